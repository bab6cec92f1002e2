/// The role for the thumbprints of the keys that the nodes of this store sign with.
package protocol KeyRegistry: Sendable {
    /// The thumbprints of the active signing keys that nodes have registered.
    func registeredKeys() async throws -> Set<String>
    /// Registers the key that a node signs with and removes superseded ones, provided that the node has one of the
    /// registered keys, or none is registered. Of two nodes that start with different keys at the same time, one is
    /// refused.
    /// - Returns: whether it was registered.
    func register(signingKey: String, held: Set<String>, superseded: Set<String>) async throws -> Bool
}
