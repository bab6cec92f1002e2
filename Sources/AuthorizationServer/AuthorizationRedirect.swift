import IdentityProviders
import OAuth

/// The answer to an authorization request that has a redirect URI (RFC 6749 section 4.1.2, RFC 9207).
package enum AuthorizationRedirect {
    /// The location for a code.
    package static func location(
        _ uri: RedirectURI, code: String, state: String?, issuer: String
    ) -> String {
        uri.adding([FormParameter("code", code)] + common(state, issuer))
    }

    /// The location for a refusal.
    package static func location(
        _ uri: RedirectURI, fault: OAuthFault, state: String?, issuer: String
    ) -> String {
        let error = [FormParameter("error", fault.code.rawValue), FormParameter("error_description", fault.detail)]
        return uri.adding(error + common(state, issuer))
    }

    private static func common(_ state: String?, _ issuer: String) -> [FormParameter] {
        (state.map { [FormParameter("state", $0)] } ?? []) + [FormParameter("iss", issuer)]
    }
}
