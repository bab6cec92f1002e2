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
