/// Makes deliveries of what transactions do. They are written in the same transaction, so neither is durable without
/// the other.
package struct EventWriter: Sendable {
    /// The deliveries of an event.
    package typealias Deliveries = @Sendable (StoreEvent) -> [DeliveryRecord]

    /// Called in the task of the caller before each transaction, for what only that task knows, such as its request.
    /// What it returns is called in the transaction, perhaps more than once: it must have no effects.
    package let deliveries: @Sendable () -> Deliveries
    /// The most deliveries that wait for one receiver; beyond it none are written for that receiver.
    package let limit: Int

    /// - Parameters:
    ///   - limit: the most deliveries that wait for one receiver.
    ///   - deliveries: see ``deliveries``.
    package init(limit: Int, deliveries: @escaping @Sendable () -> Deliveries) {
        self.limit = limit
        self.deliveries = deliveries
    }
}
