/// Why an access token is refused. Like the other faults here, two are equal if their codes are.
package struct TokenFault: Error, Sendable, Equatable {
    /// The codes of refusals.
    package enum Code: String, Sendable {
        case invalidToken = "invalid_token"
        case tokenExpired = "token_expired"
    }
    /// Whether the token is bad, or was good until it expired.
    package let code: Code
    /// The reason, for the audit log and `errors.explain` only.
    package let reason: String

    package init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    static func invalid(_ reason: String) -> TokenFault { TokenFault(.invalidToken, reason: reason) }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}

/// Why an operation on an account is refused. A failure of the store is thrown as the store's error.
package struct AuthError: Error, Sendable, Equatable {
    /// What stands in the way.
    package enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidCredentials = "invalid_credentials"
        /// The queue for password hashing is full. The request may be repeated later.
        case overloaded
        /// The tenant already has an account with this e-mail.
        case emailTaken = "email_taken"
        case registrationClosed = "registration_closed"
        case notFound = "not_found"
        /// The account was changed by a concurrent request.
        case conflict
    }
    /// What stands in the way.
    package let code: Code
    /// A fixed text or the name of a rule. It contains nothing that was sent.
    package let detail: String

    package init(_ code: Code, _ detail: String = "") {
        self.code = code
        self.detail = detail
    }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}

/// Why an OAuth request is refused, with the codes of RFC 6749 section 5.2 and RFC 8693 section 2.2.2.
package struct OAuthFault: Error, Sendable, Equatable {
    /// The codes.
    package enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case invalidScope = "invalid_scope"
        case invalidTarget = "invalid_target"
        case unauthorizedClient = "unauthorized_client"
    }
    /// The `error` of the answer.
    package let code: Code
    /// The `error_description`: fixed text.
    package let detail: String
    /// The reason, for the audit log and `errors.explain` only.
    package let reason: String

    package init(_ code: Code, _ detail: String, reason: String? = nil) {
        self.code = code
        self.detail = detail
        self.reason = reason ?? code.rawValue
    }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}

/// Why keys, issuers or settings cannot be used.
package struct GuardError: Error, Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
    /// What the fault is in.
    package enum Code: String, Sendable {
        case keyFile, keyPermissions, keyPassphrase, keyDirectory, keyUnknown, keyState, foreignKeys, issuer, policy
    }
    /// What the fault is in.
    package let code: Code
    /// One sentence for the operator: what is wrong, and how to fix it.
    package let message: String
    /// The error that caused this one, if any.
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

    /// Equality of the codes; messages are not compared.
    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }

    /// The message.
    package var description: String { message }

    /// Code, message, cause and the place in the source code.
    package var debugDescription: String {
        let cause = cause.map { " (\($0))" } ?? ""
        return "\(code.rawValue): \(message)\(cause) at \(file):\(line)"
    }
}
