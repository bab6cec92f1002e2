/// What a transaction has done and others may be told of.
package struct StoreEvent: Sendable, Equatable {
    /// What can happen.
    package enum Kind: Sendable {
        /// A session got an owner.
        case sessionUpgraded
        /// A session ended or expired.
        case sessionEnded
        /// A refresh token was used twice, which ended its family.
        case tokenReused
        /// An operator disabled an account.
        case accountDisabled
    }

    /// What happened.
    package let kind: Kind
    /// The session that it is about; nil where it is about none.
    package let sessionID: String?
    /// The tenant of ``userID``.
    package let tenantID: String?
    /// The account that it is about; nil for an anonymous session.
    package let userID: String?
    /// Why; nil where there is nothing to say.
    package let reason: String?

    package init(
        _ kind: Kind, sessionID: String? = nil, tenantID: String? = nil, userID: String? = nil, reason: String? = nil
    ) {
        self.kind = kind
        self.sessionID = sessionID
        self.tenantID = tenantID
        self.userID = userID
        self.reason = reason
    }

    /// Why sessions end, for receivers of events.
    package enum EndReason {
        /// Its refresh family ended.
        package static let familyEnded = "family_ended"
        /// A refresh token of its family was used twice.
        package static let reused = "refresh_reused"
        /// It expired.
        package static let expired = "expired"
        /// The password of its owner was changed.
        package static let passwordChanged = "password_changed"
        /// Its owner's account was disabled.
        package static let accountDisabled = "account_disabled"
        /// Its owner is a client, which was disabled.
        package static let clientDisabled = "client_disabled"
        /// An operator ended it.
        package static let endedByOperator = "ended_by_operator"
    }
}

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

    package init(limit: Int, deliveries: @escaping @Sendable () -> Deliveries) {
        self.limit = limit
        self.deliveries = deliveries
    }
}

/// The events of one transaction.
final class EventLine {
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

extension StoreEvent {
    init(_ kind: Kind, of session: SessionRecord, reason: String? = nil) {
        self.init(kind, sessionID: session.id, tenantID: session.tenantID, userID: session.userID, reason: reason)
    }
}
