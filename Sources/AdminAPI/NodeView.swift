/// What this node of the gateway has in memory, for its operator.
package protocol NodeView: Sendable {
    /// Open sockets and streams in the order of their ids, beginning after one, at most `limit`.
    func connections(after id: String?, limit: Int) async -> [OpenConnection]
    /// Ends a socket or stream. Returns whether there was one with this id.
    func end(connection id: String) async -> Bool
    /// How many sockets each of these sessions has open here; sessions without one may be left out.
    func sockets(of sessionIDs: [String]) -> [String: Int]
    /// The recent refusals, newest first.
    func refusals() async -> [RefusalEntry]
    /// The upstreams of all routes.
    func upstreams() async -> [UpstreamEntry]
    /// How many sockets and leases are open.
    func counts() async -> (sockets: Int, leases: Int)
    /// Returns when what has been ended is closed.
    func settled() async
    /// The state of the store's feed.
    func store() -> StoreEntry
    /// Whether requests are taken: the gateway is not stopping, and its store answers.
    func isReady() -> Bool
}
