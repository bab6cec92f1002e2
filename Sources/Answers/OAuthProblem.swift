import Encodings

/// A refusal of `/oauth2/*`: `{error, error_description}` with the statuses of RFC 6749, 7009, 7662 and 8693.
package struct OAuthProblem: Error, Sendable {
    /// The codes of RFC 6749 section 5.2, RFC 7591 section 3.2.2 and RFC 8693 section 2.2.2.
    package enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case invalidScope = "invalid_scope"
        case invalidTarget = "invalid_target"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidRedirectURI = "invalid_redirect_uri"
        case invalidClientMetadata = "invalid_client_metadata"
    }

    /// The `error` member.
    package let error: String
    /// Status, description, reason and header fields.
    package let problem: Problem

    package init(_ code: Code, _ description: String, reason: String? = nil) {
        error = code.rawValue
        problem = Problem(
            code == .invalidClient ? .invalidCredentials : .invalidRequest, detail: description,
            reason: reason ?? code.rawValue)
    }

    /// A problem of the API in OAuth's format.
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

    /// The header fields of the answer, except `Content-Length`, `Date` and `Connection`.
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
