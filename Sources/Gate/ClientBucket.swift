import TrafficCop

/// The name under which limits count a client.
package enum ClientBucket {
    /// The name for a client at this address: the address, or the network it stands for (see ``AddressBucket``).
    package static func name(_ address: String) -> String { AddressBucket.name(for: address) }
}
