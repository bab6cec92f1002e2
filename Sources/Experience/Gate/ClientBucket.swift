import TrafficCop

/// The name under which limits count a client.
enum ClientBucket {
    static func name(_ address: String) -> String { AddressBucket.name(for: address) }
}
