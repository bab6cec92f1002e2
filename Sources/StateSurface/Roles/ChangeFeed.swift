/// The role that reports changes by all nodes, and whether any can have been missed.
package protocol ChangeFeed: Sendable {
    /// Calls `observer` for every change, in the order of commit, on a thread of the store. It must not block.
    func subscribe(_ observer: @escaping @Sendable (Change) -> Void) -> Subscription
    /// The time since the last heartbeat of the feed. Always near zero for an embedded store.
    func sinceLastBeat() -> Duration
    /// Whether the feed is known to be interrupted, without a heartbeat since.
    func feedIsLost() -> Bool
}
