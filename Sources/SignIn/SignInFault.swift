import StateSurface

/// A refusal of a use case that is neither about a session nor about an account. Thrown in a transaction, it rolls the
/// transaction back.
package struct SignInFault: TransactionAbort, Equatable {
    /// The kinds of refusal.
    package enum Code: String, Sendable {
        /// The refresh token is not accepted.
        case invalidGrant = "invalid_grant"
        /// The access token was revoked while it was being used.
        case tokenRevoked = "token_revoked"
    }
    /// The kind of refusal.
    package let code: Code
    /// The reason, for the audit log and `errors.explain` only.
    package let reason: String

    /// A refusal with a reason.
    package init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Equality of the codes; reasons are not compared.
    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}
