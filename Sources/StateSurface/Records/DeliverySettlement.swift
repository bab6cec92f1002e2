/// What has become of a delivery.
package enum DeliverySettlement: Sendable, Equatable {
    /// It was taken.
    case delivered(id: String)
    /// It is to be tried again.
    case retry(id: String, attempts: Int64, dueAt: Milliseconds)
    /// It was given up: a dead letter.
    case deadLettered(id: String, reason: String, at: Milliseconds)
}
