/// The role that records which nodes of this store are alive.
package protocol NodeStore: Sendable {
    /// Records that a node is alive.
    /// - Parameter within: the time in milliseconds since its last record within which a node counts as alive.
    /// - Returns: the ids of the living nodes, including this one.
    func beat(nodeID: String, at: Milliseconds, within: Milliseconds) async throws -> Set<String>
}
