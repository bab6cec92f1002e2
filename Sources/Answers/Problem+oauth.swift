import Encodings
import OAuth

/// The form of the refusals of `/oauth2/*`: `{error, error_description}` with the statuses of RFC 6749, 7009, 7662 and
/// 8693.
extension Problem {
    /// The problem for a refusal of OAuth: 401 for `invalid_client`, else 400. It is told in OAuth's form, whatever that
    /// of the path is, but for ``RefusalForm/problemWithError``.
    package init(_ fault: OAuthFault) {
        self.init(Self.code(of: fault.code), detail: fault.detail, reason: fault.reason)
        oauthCode = fault.code
    }

    /// The codes with the statuses of OAuth's. It has no `default`, so that a new one does not compile without a status.
    private static func code(of code: OAuthFault.Code) -> ProblemCode {
        switch code {
        case .invalidClient: .invalidCredentials
        case .invalidRequest, .invalidGrant, .unauthorizedClient, .unsupportedGrantType, .invalidScope, .accessDenied,
            .unsupportedResponseType, .invalidTarget, .invalidRedirectURI, .invalidClientMetadata:
            .invalidRequest
        }
    }

    /// The members `error` and `error_description`. Where OAuth has no code, `error` is the problem's own, such as
    /// `store_unavailable` or `rate_limited`.
    var oauthMembers: [(name: String, value: JSONValue)] {
        [("error", .string(oauthCode?.rawValue ?? code.rawValue)), ("error_description", .string(detail))]
    }

    /// The body as `application/json` (RFC 6749 section 5.2).
    func oauthBody(explain: Bool) -> [UInt8] {
        var object = JSONObject()
        for member in oauthMembers { object[member.name] = member.value }
        if explain { object["reason"] = .string(reasonOrCode) }
        return JSONValue.object(object).serializedBytes()
    }

    /// The header fields of the answer, except `Content-Length`, `Date` and `Connection`. Those of the problem, but
    /// with `application/json`, and with `Basic` before `Bearer` in the challenge.
    func oauthHeaders() -> [(name: String, value: String)] {
        answerHeaders().map { field in
            switch field.name {
            case "Content-Type": ("Content-Type", "application/json")
            // Tells a client that fails to authenticate how it can (RFC 6749 section 5.2).
            case "WWW-Authenticate": (field.name, "Basic realm=\"gatehouse\", \(field.value)")
            default: field
            }
        }
    }
}
