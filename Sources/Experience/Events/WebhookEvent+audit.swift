import SecurityGuard
import StateSurface
import Webhooks

// What receivers are told: what transactions have done, and of the audit log what no transaction is about.

extension WebhookEvent {
    /// What a transaction has done.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - method: the way of the sign-in, if there was one.
    ///   - requestID: of the request that caused it, if there was one.
    package init(_ event: StoreEvent, at now: Int64, method: String?, requestID: String?) {
        let kind: Kind =
            switch event.kind {
            case .sessionUpgraded: .sessionUpgraded
            case .sessionEnded: .sessionEnded
            case .tokenReused: .tokenReuse
            case .accountDisabled: .accountDisabled
            }
        self.init(
            id: Self.newID(), kind: kind, occurredAt: now, tenantID: event.tenantID, userID: event.userID,
            sessionID: event.sessionID, method: kind == .sessionUpgraded ? method : nil, reason: event.reason,
            requestID: requestID)
    }

    /// The event of an audit line that no transaction is about; nil if it is none.
    package init?(_ audit: AuditEvent, at now: Int64) {
        guard audit.name == .loginRefused else { return nil }
        self.init(
            id: Self.newID(), kind: .loginFailed, occurredAt: now, tenantID: audit.tenantID, userID: audit.subject,
            method: audit.provider ?? AuditContext.method ?? "password",
            reason: audit.reason.isEmpty ? nil : audit.reason, requestID: audit.requestID)
    }
}

extension EventReceivers {
    /// Makes the deliveries of what transactions do; nil if there are no receivers.
    ///
    /// - Parameter clock: milliseconds since 1970.
    package func writer(clock: @escaping @Sendable () -> Int64) -> EventWriter? {
        guard !isEmpty else { return nil }
        return EventWriter(limit: Self.roomPerReceiver) {
            // Of the task that asks for the transaction, which is carried out elsewhere.
            let (method, requestID) = (AuditContext.method, AuditContext.requestID)
            return { event in
                deliveries(of: WebhookEvent(event, at: clock(), method: method, requestID: requestID))
            }
        }
    }
}
