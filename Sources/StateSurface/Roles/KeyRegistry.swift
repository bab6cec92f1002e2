/// The thumbprints of the keys that the nodes of this store sign with.
package protocol KeyRegistry: Sendable {
    /// Thumbprints of the active signing keys that nodes of this store have registered.
    func registeredKeys() async throws -> Set<String>
    /// Registers the key a node signs with, and drops those it knows to be superseded, if it holds one of those that
    /// are registered or none is: of two nodes that begin with keys of their own at once, one is refused.
    /// - Returns: whether it was registered.
    func register(signingKey: String, held: Set<String>, superseded: Set<String>) async throws -> Bool
}
