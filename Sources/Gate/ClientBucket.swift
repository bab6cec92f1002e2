import TrafficCop

/// The name under which limits count a client.
package enum ClientBucket {
    package static func name(_ address: String) -> String { AddressBucket.name(for: address) }
}
