/// Tells of every change, whichever node made it, and how sure one can be that none was missed.
package protocol ChangeFeed: Sendable {
    /// Calls back on every change, in order of commit, on a thread of the store's. The callback must be quick.
    func subscribe(_ observer: @escaping @Sendable (Change) -> Void) -> Subscription
    /// How long ago the feed last proved to be alive. Always near zero for an embedded store.
    func sinceLastBeat() -> Duration
    /// Whether the feed is known to be broken, and has not proved to be alive since.
    func feedIsLost() -> Bool
}
