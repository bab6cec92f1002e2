/// One line for the audit log: what happened to whom, and why. It never holds a token, secret or password.
package struct AuditEvent: Sendable, Equatable {
    package enum Name: String, Sendable {
        case loginSucceeded = "login.succeeded"
        case loginRefused = "login.refused"
        case registered = "account.registered"
        case passwordChanged = "account.password_changed"
        case passwordRefused = "account.password_refused"
        case accountDisabled = "account.disabled"
        case familyOpened = "family.opened"
        case familyRotated = "family.rotated"
        case familyRepeated = "family.repeated"
        case familyReused = "family.reused"
        case familyRefused = "family.refused"
        case familyEnded = "family.ended"
        case tokenRevoked = "token.revoked"
        case clientRefused = "client.refused"
        case clientToken = "client.token_issued"
        case exchanged = "exchange.succeeded"
        case exchangeRefused = "exchange.refused"
        case keysChanged = "keys.changed"
        case keysRefused = "keys.refused"
    }
    package var name: Name
    /// A reason code; empty when there is nothing to explain.
    package var reason: String
    package var tenantID: String?
    package var subject: String?
    package var clientID: String?
    package var familyID: String?
    /// The request it belongs to, as the API set it in ``AuditContext``.
    package var requestID: String?

    package init(
        _ name: Name, reason: String = "", tenantID: String? = nil, subject: String? = nil, clientID: String? = nil,
        familyID: String? = nil
    ) {
        self.name = name
        self.reason = reason
        self.tenantID = tenantID
        self.subject = subject
        self.clientID = clientID
        self.familyID = familyID
        self.requestID = AuditContext.requestID
    }
}

/// Where events go. It must be quick: it is called on the path of a request.
package typealias AuditSink = @Sendable (AuditEvent) -> Void

/// What the edge knows of the request while the guard works for it.
package enum AuditContext {
    @TaskLocal package static var requestID: String?
}
