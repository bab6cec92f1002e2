/// Why an authorization request is refused.
package struct AuthorizationFault: Error, Sendable, Equatable {
    /// The codes of RFC 6749 section 4.1.2.1 and RFC 8707 section 2. Each is also the `error` parameter.
    package enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case unsupportedResponseType = "unsupported_response_type"
        case invalidScope = "invalid_scope"
        case invalidTarget = "invalid_target"
        case accessDenied = "access_denied"
    }
    /// The kind of refusal.
    package let code: Code
    /// The `error_description`: fixed text.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// Equality of the codes; details are not compared.
    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}
