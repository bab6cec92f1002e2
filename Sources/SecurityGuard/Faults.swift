/// Why an access token is refused. A value like the others of this file: equal to another one of the same code.
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

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
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

/// Why the guard can't start, or can't use what it was given.
package struct GuardError: Error, Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
    package enum Code: String, Sendable {
        case keyFile, keyPermissions, keyPassphrase, keyDirectory, keyUnknown, keyState, foreignKeys, issuer, policy
    }
    package let code: Code
    /// One sentence for the operator: what is wrong, and how to mend it.
    package let message: String
    /// The error that led to this one, if another one did.
    package let cause: (any Error)?
    private let file: StaticString
    private let line: UInt

    /// - Parameters:
    ///   - file: where the error was made, as `MODULE/FILE`.
    ///   - line: the line of that file.
    package init(
        _ code: Code, _ message: String, cause: (any Error)? = nil, file: StaticString = #fileID, line: UInt = #line
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.file = file
        self.line = line
    }

    /// Equality of the codes.
    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }

    /// The sentence.
    package var description: String { message }

    /// Code, sentence, cause and the place in the sources.
    package var debugDescription: String {
        let cause = cause.map { " (\($0))" } ?? ""
        return "\(code.rawValue): \(message)\(cause) at \(file):\(line)"
    }
}
