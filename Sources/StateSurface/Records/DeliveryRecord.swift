/// An event on its way to one receiver, as it is stored until the receiver has taken it.
package struct DeliveryRecord: Sendable, Equatable {
    /// Of the event and the receiver together; unique.
    package var id: String
    /// The receiver.
    package var receiver: String
    /// Deliveries of one lane to one receiver are made in their order: a session, or the event itself where there is
    /// none.
    package var lane: String
    /// The place in the order in which the store got them; 0 before it is stored.
    package var sequence: Int64
    /// The event.
    package var eventID: String
    /// What the event says.
    package var payload: String
    /// When it was stored.
    package var createdAt: Milliseconds
    /// How often it was tried.
    package var attempts: Int64
    /// When it may be tried next.
    package var dueAt: Milliseconds

    /// By default a delivery that was not stored or tried yet.
    package init(
        id: String, receiver: String, lane: String, sequence: Int64 = 0, eventID: String, payload: String,
        createdAt: Milliseconds, attempts: Int64 = 0, dueAt: Milliseconds
    ) {
        self.id = id
        self.receiver = receiver
        self.lane = lane
        self.sequence = sequence
        self.eventID = eventID
        self.payload = payload
        self.createdAt = createdAt
        self.attempts = attempts
        self.dueAt = dueAt
    }
}
