/// The events of one transaction.
final class TransactionEvents {
    private let deliveries: EventWriter.Deliveries
    let limit: Int
    /// Why sessions end from here on, where the statement that ends them does not know better.
    var reason: String?
    /// The sessions that the transaction has read, as they were.
    private var states: [String: StoredSessionState] = [:]

    init(_ deliveries: @escaping EventWriter.Deliveries, limit: Int) {
        self.deliveries = deliveries
        self.limit = limit
    }

    func deliveries(of event: StoreEvent) -> [DeliveryRecord] { deliveries(event) }

    func noteRead(_ session: SessionRecord) { states[session.id] = session.state }

    /// What the replacement of a session means for others; nil for nothing.
    func event(ofReplaced session: SessionRecord) -> StoreEvent? {
        let before = states[session.id]
        states[session.id] = session.state
        switch session.state {
        case .anonymous: return nil
        case .authenticated:
            return before == .anonymous ? StoreEvent(.sessionUpgraded, of: session) : nil
        case .ended, .expired:
            guard before?.isLive ?? true else { return nil }
            return StoreEvent(
                .sessionEnded, of: session, reason: session.state == .expired ? StoreEvent.EndReason.expired : reason)
        }
    }
}
