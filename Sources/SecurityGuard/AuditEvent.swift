/// An event for the audit log. It contains no token, secret or password.
package struct AuditEvent: Sendable, Equatable {
    /// The names of the events.
    package enum Name: String, Sendable {
        case loginSucceeded = "login.succeeded"
        case loginRefused = "login.refused"
        case registered = "account.registered"
        case passwordChanged = "account.password_changed"
        case passwordRefused = "account.password_refused"
        case accountDisabled = "account.disabled"
        case passkeyRegistered = "passkey.registered"
        case passkeyRefused = "passkey.refused"
        case passkeyRemoved = "passkey.removed"
        case familyOpened = "family.opened"
        case familyRotated = "family.rotated"
        case familyRepeated = "family.repeated"
        case familyReused = "family.reused"
        case familyRefused = "family.refused"
        case familyEnded = "family.ended"
        case tokenRevoked = "token.revoked"
        case clientRefused = "client.refused"
        case clientToken = "client.token_issued"
        case clientRegistered = "client.registered"
        case grantAllowed = "grant.allowed"
        case grantDenied = "grant.denied"
        case grantEnded = "grant.ended"
        case personalTokenMade = "personal_token.made"
        case personalTokenEnded = "personal_token.ended"
        case exchanged = "exchange.succeeded"
        case exchangeRefused = "exchange.refused"
        case keysChanged = "keys.changed"
        case keysRefused = "keys.refused"
    }
    /// What happened.
    package var name: Name
    /// The reason code; empty if there is none.
    package var reason: String
    /// The tenant of the subject.
    package var tenantID: String?
    /// The user or client.
    package var subject: String?
    /// The OAuth client.
    package var clientID: String?
    /// The refresh family.
    package var familyID: String?
    /// The name of the identity provider.
    package var provider: String?
    /// The id of the request, from ``AuditContext``.
    package var requestID: String?

    package init(
        _ name: Name, reason: String = "", tenantID: String? = nil, subject: String? = nil, clientID: String? = nil,
        familyID: String? = nil, provider: String? = nil
    ) {
        self.name = name
        self.reason = reason
        self.tenantID = tenantID
        self.subject = subject
        self.clientID = clientID
        self.familyID = familyID
        self.provider = provider
        self.requestID = AuditContext.requestID
    }
}

/// Receives events. It is called while a request is handled, so it must not block.
package typealias AuditSink = @Sendable (AuditEvent) -> Void

extension SecurityGuard {
    /// Records an event that a use case above has decided.
    package func record(_ event: AuditEvent) { audit(event) }
}
