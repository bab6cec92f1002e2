/// Which nodes of this store are alive.
package protocol NodeStore: Sendable {
    /// Records that a node lives.
    /// - Parameter within: how long ago, in ms, a node may have been seen to count as living.
    /// - Returns: the ids of the living nodes, this one among them.
    func beat(nodeID: String, at: Milliseconds, within: Milliseconds) async throws -> Set<String>
}
