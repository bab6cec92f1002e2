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

    /// An event about nothing but what is given.
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

extension StoreEvent {
    init(_ kind: Kind, of session: SessionRecord, reason: String? = nil) {
        self.init(kind, sessionID: session.id, tenantID: session.tenantID, userID: session.userID, reason: reason)
    }
}
