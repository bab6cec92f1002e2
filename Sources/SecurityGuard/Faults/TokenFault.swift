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
