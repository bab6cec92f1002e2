import Encodings

/// A refusal of `/oauth2/*`: `{error, error_description}` with the statuses of RFC 6749, 7009, 7662 and 8693.
package struct OAuthProblem: Error, Sendable {
    /// The codes of RFC 6749 section 5.2, RFC 7591 section 3.2.2 and RFC 8693 section 2.2.2. The raw value is what the
    /// `error` member says. RFC 8707 section 2 uses ``invalidTarget`` for a `resource` as well.
    package enum Code: String, Sendable {
        /// A parameter is missing, repeated or malformed, or two parameters exclude each other. 400.
        case invalidRequest = "invalid_request"
        /// The client is unknown, or its authentication is missing or wrong. The only code that is answered with 401.
        case invalidClient = "invalid_client"
        /// The code or the refresh token is not accepted, for whatever reason. 400.
        case invalidGrant = "invalid_grant"
        /// The scope is malformed, or wider than what was granted or may be granted. 400.
        case invalidScope = "invalid_scope"
        /// The resource or the audience is not one that the grant may be used for. 400.
        case invalidTarget = "invalid_target"
        /// The client is known and may not use this grant. 400.
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        /// A `redirect_uris` entry of a registration is not taken. 400.
        case invalidRedirectURI = "invalid_redirect_uri"
        /// Another member of a registration is not taken. 400.
        case invalidClientMetadata = "invalid_client_metadata"
    }

    /// The `error` member.
    package let error: String
    /// Status, description, reason and header fields.
    package let problem: Problem

    /// A refusal with one of OAuth's own codes: 401 for ``Code/invalidClient``, else 400.
    ///
    /// - Parameter description: the `error_description`. Every client may read it, so it names no credential.
    /// - Parameter reason: for the audit log and, with `errors.explain`, for the client; nil for the code itself.
    package init(_ code: Code, _ description: String, reason: String? = nil) {
        error = code.rawValue
        problem = Problem(
            code == .invalidClient ? .invalidCredentials : .invalidRequest, detail: description,
            reason: reason ?? code.rawValue)
    }

    /// A problem of the API in OAuth's format. `error` is then the problem's own code, such as `store_unavailable` or
    /// `rate_limited`, and the status that of the problem: RFC 6749 has no codes for these.
    package init(_ problem: Problem) {
        error = problem.code.rawValue
        self.problem = problem
    }

    /// The body as `application/json` (RFC 6749 section 5.2).
    func body(explain: Bool) -> [UInt8] {
        var object: JSONObject = ["error": .string(error), "error_description": .string(problem.detail)]
        if explain, let reason = problem.reason { object["reason"] = .string(reason) }
        return JSONValue.object(object).serializedBytes()
    }

    /// The header fields of the answer, except `Content-Length`, `Date` and `Connection`. Those of the problem, but
    /// with `application/json`, and with `Basic` before `Bearer` in the challenge.
    func answerHeaders() -> [(name: String, value: String)] {
        problem.answerHeaders().map { field in
            switch field.name {
            case "Content-Type": ("Content-Type", "application/json")
            // Tells a client that fails to authenticate how it can (RFC 6749 section 5.2).
            case "WWW-Authenticate": (field.name, "Basic realm=\"gatehouse\", \(field.value)")
            default: field
            }
        }
    }
}
