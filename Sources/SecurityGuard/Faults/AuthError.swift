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
