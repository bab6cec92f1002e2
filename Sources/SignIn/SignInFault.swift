/// Why something is refused that neither a session nor an account refuses.
package struct SignInFault: Error, Sendable, Equatable {
    package enum Code: String, Sendable {
        /// The refresh token is not accepted.
        case invalidGrant = "invalid_grant"
        /// The access token was revoked while it was being used.
        case tokenRevoked = "token_revoked"
    }
    package let code: Code
    /// For the audit log and `errors.explain` only.
    package let reason: String

    package init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}
