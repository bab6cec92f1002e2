/// Why an access token is refused.
package struct TokenFault: Error, Sendable, Equatable {
    package enum Code: String, Sendable {
        case invalidToken = "invalid_token"
        case tokenExpired = "token_expired"
    }
    package let code: Code
    /// For the audit log and `errors.explain` only: never for a caller who did not ask for it.
    package let reason: String

    package init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    static func invalid(_ reason: String) -> TokenFault { TokenFault(.invalidToken, reason: reason) }
}

/// Why an account request is refused. A store that fails throws its own error instead.
package struct AuthError: Error, Sendable, Equatable {
    package enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidCredentials = "invalid_credentials"
        /// The bounded hashing queue is full: ask again later.
        case overloaded
        /// The tenant has an account with this e-mail.
        case emailTaken = "email_taken"
        case registrationClosed = "registration_closed"
        case notFound = "not_found"
        /// The account was changed at the same moment.
        case conflict
    }
    package let code: Code
    /// Fixed text or a rule's name; never a value that was sent.
    package let detail: String

    package init(_ code: Code, _ detail: String = "") {
        self.code = code
        self.detail = detail
    }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}

/// Why an OAuth request is refused, in the words of RFC 6749 §5.2 and RFC 8693 §2.2.2.
package struct OAuthFault: Error, Sendable, Equatable {
    package enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case invalidScope = "invalid_scope"
        case invalidTarget = "invalid_target"
        case unauthorizedClient = "unauthorized_client"
    }
    package let code: Code
    /// The `error_description`: fixed text.
    package let detail: String
    /// For the audit log and `errors.explain` only.
    package let reason: String

    package init(_ code: Code, _ detail: String, reason: String? = nil) {
        self.code = code
        self.detail = detail
        self.reason = reason ?? code.rawValue
    }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}

/// Why the guard can't start, or can't use what it was given: one sentence, and how to mend it.
package struct GuardError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable {
        case keyFile, keyPermissions, keyPassphrase, keyDirectory, keyUnknown, keyState, foreignKeys, issuer, policy
    }
    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
    package var description: String { message }
}
