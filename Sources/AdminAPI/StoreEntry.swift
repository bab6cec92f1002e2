/// The state of the store's feed.
package struct StoreEntry: Sendable, Equatable {
    /// `sqlite` or `postgres`.
    package var kind: String
    /// Whether it answers, and its feed beats.
    package var isReachable: Bool
    /// The time since the last beat, in seconds.
    package var feedAge: Double

    package init(kind: String, isReachable: Bool, feedAge: Double) {
        self.kind = kind
        self.isReachable = isReachable
        self.feedAge = feedAge
    }
}
