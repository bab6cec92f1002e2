/// Which nodes of this store are alive.
package protocol NodeStore: Sendable {
    /// Records that a node lives.
    /// - Parameter within: how long ago, in ms, a node may have been seen to count as living.
    /// - Returns: the ids of the living nodes, this one among them.
    func beat(nodeID: String, at: Milliseconds, within: Milliseconds) async throws -> Set<String>
}

/// The thumbprints of the keys that the nodes of this store sign with.
package protocol KeyRegistry: Sendable {
    /// Thumbprints of the active signing keys that nodes of this store have registered.
    func registeredKeys() async throws -> Set<String>
    /// Registers the key a node signs with, and drops those it knows to be superseded, if it holds one of those that
    /// are registered or none is: of two nodes that begin with keys of their own at once, one is refused.
    /// - Returns: whether it was registered.
    func register(signingKey: String, held: Set<String>, superseded: Set<String>) async throws -> Bool
}

/// Counters that all nodes share and that survive a restart, and the secret that hides what is counted.
package protocol CounterStore: Sendable {
    /// A secret that all nodes of this store have in common: the candidate of whichever of them came first.
    func sharedSecret(name: String, candidate: [UInt8]) async throws -> [UInt8]
    /// Adds to a counter.
    /// - Parameter window: how far back, in ms, the sum goes.
    /// - Returns: the sum within the window.
    func count(key: String, adding: Int64, window: Milliseconds, now: Milliseconds) async throws -> Int64
}
