/// How much room there is for a receiver's deliveries, as the node that delivers has counted. It tells all who write
/// events, so that they need not count at each.
package struct DeliveryRoom: Sendable, Equatable {
    /// The receiver's name in the configuration.
    package let receiver: String
    /// Deliveries are stored without a count while the newest that waits is before this place.
    package let openUntil: Int64
    /// Whether none are stored.
    package let isFull: Bool

    /// The room as another node has told it.
    package init(receiver: String, openUntil: Int64, isFull: Bool) {
        self.receiver = receiver
        self.openUntil = openUntil
        self.isFull = isFull
    }

    /// The room that a count shows.
    ///
    /// Each further delivery has a later place than `newest`, so that no more than `limit` wait when `openUntil` is
    /// reached, however many are for other receivers.
    ///
    /// - Parameters:
    ///   - waiting: how many wait, counted after `newest` was read.
    ///   - newest: the place of the newest delivery that waits for any receiver.
    ///   - limit: the most that may wait.
    ///   - before: what was told before. A room that was full stays full until an eighth of it is free.
    package init(receiver: String, waiting: Int, newest: Int64, limit: Int, before: DeliveryRoom?) {
        self.receiver = receiver
        openUntil = newest + Int64(max(0, limit - waiting))
        isFull = waiting >= limit || (before?.isFull == true && limit - waiting < limit / 8)
    }

    /// Whether those who know what was told before have to be told this.
    package func isNews(after before: DeliveryRoom?, limit: Int) -> Bool {
        guard let before else { return true }
        return isFull != before.isFull || openUntil - before.openUntil > Int64(limit / 8)
    }
}
