import Encodings
import IdentityProviders
import OAuth

/// The parameters of an authorization request (RFC 6749 section 4.1.1), read but not yet judged.
package struct AuthorizationParameters: Sendable {
    private let parameters: [FormParameter]

    /// Reads a query.
    /// - Throws: ``AuthorizationPageFault`` if it can't be decoded, or names no client or redirect URI, or two.
    package init(query: String) throws(AuthorizationPageFault) {
        guard query.utf8.count <= 8192, let parameters = FormText.decode(query) else {
            throw AuthorizationPageFault(.requestMalformed, "The link of the application is damaged.")
        }
        self.parameters = parameters
        guard values("client_id").count == 1 else {
            throw AuthorizationPageFault(.clientUnknown, "The link does not say which application asks.")
        }
        guard values("redirect_uri").count == 1 else {
            throw AuthorizationPageFault(.redirectRefused, "The link does not say where to return to.")
        }
    }

    /// The `client_id`.
    package var clientID: String { values("client_id").first ?? "" }

    /// The `state`, if there is exactly one.
    package var state: String? {
        let states = parameters.filter { $0.name.hasSameBytes(as: "state") }
        return states.count == 1 ? states.first?.value : nil
    }

    /// The redirect URI, if the client has registered it.
    /// - Throws: ``AuthorizationPageFault`` if it has not.
    package func redirectURI(of client: AuthorizationClient) throws(AuthorizationPageFault) -> RedirectURI {
        try Self.redirectURI(values("redirect_uri").first ?? "", of: client)
    }

    /// The redirect URI, if it is one of the client's.
    /// - Throws: ``AuthorizationPageFault`` if it is not.
    package static func redirectURI(
        _ text: String, of client: AuthorizationClient
    ) throws(AuthorizationPageFault) -> RedirectURI {
        guard let presented = RedirectURI(text), client.redirectURIs.contains(where: { $0.matches(presented) })
        else {
            throw AuthorizationPageFault(
                .redirectRefused, "The application asks to return to an address that it has not registered.")
        }
        return presented
    }

    /// Judges everything but client and redirect URI.
    /// - Throws: `OAuthFault`, which is told to the client.
    package func judge(
        client: AuthorizationClient, redirectURI: RedirectURI, resources: [ProtectedResource]
    ) throws(OAuthFault) -> JudgedAuthorization {
        let single = ["response_type", "scope", "state", "code_challenge", "code_challenge_method"]
        guard single.allSatisfy({ name in parameters.count { $0.name.hasSameBytes(as: name) } <= 1 }) else {
            throw OAuthFault(.invalidRequest, "A parameter is there more than once.")
        }
        guard let type = values("response_type").first else {
            throw OAuthFault(.invalidRequest, "'response_type' is needed.")
        }
        guard type.hasSameBytes(as: "code") else {
            throw OAuthFault(.unsupportedResponseType, "Only the response type 'code' is supported.")
        }
        guard let challenge = values("code_challenge").first,
            values("code_challenge_method").first?.hasSameBytes(as: "S256") == true, ProofKey.isChallenge(challenge)
        else { throw OAuthFault(.invalidRequest, "PKCE with the method S256 is needed.") }
        let asked = values("resource")
        guard asked.count == 1, let name = asked.first,
            let resource = resources.first(where: { ResourceIdentifier.areSame($0.identifier, name) })
        else { throw OAuthFault(.invalidTarget, "'resource' must name exactly one resource of this server.") }
        guard let scopes = Scope.parseWithExtraSpaces(values("scope").first ?? "") else {
            throw OAuthFault(.invalidScope, "'scope' is malformed.")
        }
        return JudgedAuthorization(
            clientID: client.id, redirectURI: redirectURI, resource: resource, scopes: scopes, state: state,
            challenge: challenge)
    }

    /// The values of a parameter; one without a value counts as absent.
    private func values(_ name: String) -> [String] {
        parameters.filter { $0.name.hasSameBytes(as: name) && !$0.value.utf8.isEmpty }.map(\.value)
    }
}
