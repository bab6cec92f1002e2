/// Why a request of OAuth is refused: by the token endpoint and its neighbours, the authorization endpoint and the
/// registration of clients alike. How it is told is not said here: as an answer, or in the redirect to a client.
package struct OAuthFault: Error, Sendable, Equatable {
    /// The codes. The raw value is what the `error` member or parameter says.
    package enum Code: String, Sendable {
        // RFC 6749 section 5.2, of which most are those of section 4.1.2.1 as well.

        /// A parameter is missing, repeated or malformed, or two parameters exclude each other.
        case invalidRequest = "invalid_request"
        /// The client is unknown, or its authentication is missing or wrong.
        case invalidClient = "invalid_client"
        /// The code, the refresh token or the subject token is not accepted, for whatever reason.
        case invalidGrant = "invalid_grant"
        /// The client is known and may not use this grant.
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        /// The scope is malformed, or wider than what was granted or may be granted.
        case invalidScope = "invalid_scope"

        // RFC 6749 section 4.1.2.1.

        /// The person or the gateway does not give the client what it asks for.
        case accessDenied = "access_denied"
        case unsupportedResponseType = "unsupported_response_type"

        // RFC 8693 section 2.2.2 and RFC 8707 section 2.

        /// The resource or the audience is not one that the grant may be used for.
        case invalidTarget = "invalid_target"

        // RFC 7591 section 3.2.2.

        /// A `redirect_uris` entry of a registration is not taken.
        case invalidRedirectURI = "invalid_redirect_uri"
        /// Another member of a registration is not taken.
        case invalidClientMetadata = "invalid_client_metadata"
    }
    /// The `error` of the answer.
    package let code: Code
    /// The `error_description`: fixed text. Every client may read it, so it names no credential.
    package let detail: String
    /// The reason, for the audit log and `errors.explain` only.
    package let reason: String

    /// - Parameter reason: nil for the code itself.
    package init(_ code: Code, _ detail: String, reason: String? = nil) {
        self.code = code
        self.detail = detail
        self.reason = reason ?? code.rawValue
    }

    /// Equality of the codes; details and reasons are not compared.
    package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}
