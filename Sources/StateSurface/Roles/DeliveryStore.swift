/// The role for events on their way to receivers. They are stored until they were taken, over restarts, for all nodes.
package protocol DeliveryStore: Sendable {
    /// Sets the writer that makes deliveries of what transactions do from now on; with nil, none are made. Beyond the
    /// writer's limit events are dropped.
    func setEventWriter(_ writer: EventWriter?)
    /// Appends deliveries in this order. One whose id is stored already is passed over, so a call whose answer was lost
    /// can be repeated.
    /// - Parameter limit: the most deliveries that wait for one receiver. Beyond it none are appended for that
    ///   receiver.
    /// - Returns: how many were not stored because there was no room.
    func enqueue(deliveries: [DeliveryRecord], limit: Int) async throws -> Int
    /// The oldest deliveries that wait for a receiver, in their order.
    func deliveries(receiver: String, limit: Int) async throws -> [DeliveryRecord]
    /// How many deliveries wait for a receiver, counted up to `limit`.
    func waitingDeliveries(receiver: String, limit: Int) async throws -> Int
    /// The place of the newest delivery that waits for any receiver; 0 if there is none.
    func newestDelivery() async throws -> Int64
    /// Records what has become of deliveries, in one transaction.
    func settle(deliveries: [DeliverySettlement]) async throws
    /// Buries deliveries that wait and were stored until `createdUntil`, for every receiver, and removes dead letters
    /// that became dead letters until `deadLetteredUntil`.
    /// - Returns: how many became dead letters.
    func sweepDeliveries(
        createdUntil: Milliseconds, deadLetteredUntil: Milliseconds, at: Milliseconds
    ) async throws -> Int
    /// Dead letters, newest first, at most `limit`.
    func deadDeliveries(limit: Int) async throws -> [(delivery: DeliveryRecord, reason: String)]
    /// Makes a node the one that delivers, until `until`, unless another is until later than `now`.
    /// - Returns: whether it is. Of several concurrent calls by different nodes, one gets it.
    func leaseDeliveries(nodeID: String, now: Milliseconds, until: Milliseconds) async throws -> Bool
    /// Says how much room receivers have, in place of what was said before, if the node is the one that delivers. An
    /// event of a transaction is then stored while the newest delivery that waits for its receiver is before
    /// `openUntil`, and dropped while the room is full. Otherwise, and where nothing is said, what waits is counted up
    /// to the limit.
    func set(deliveryRooms rooms: [DeliveryRoom], by nodeID: String) async throws
    /// Ends the node's own lease, so that another node need not wait for its end. What it said of rooms is forgotten.
    func releaseDeliveries(nodeID: String) async throws
}
