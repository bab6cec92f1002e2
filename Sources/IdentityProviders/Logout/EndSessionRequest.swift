/// Where a person is sent to log out at the provider, too (OpenID Connect RP-Initiated Logout 1.0 §2).
package enum EndSessionRequest {
    /// The URL.
    ///
    /// - Parameters:
    ///   - endpoint: `end_session_endpoint` of discovery.
    ///   - clientID: by which the provider knows whose `post_logout_redirect_uri` it is.
    ///   - idToken: `id_token_hint`, where one was kept.
    ///   - redirectURI: where the provider may send the person afterwards.
    ///   - state: repeated by the provider.
    package static func url(
        _ endpoint: EndpointURL, clientID: String, idToken: String? = nil, redirectURI: String? = nil,
        state: String? = nil
    ) -> String {
        var parameters = [FormParameter("client_id", clientID)]
        if let idToken { parameters.append(FormParameter("id_token_hint", idToken)) }
        if let redirectURI {
            parameters.append(FormParameter("post_logout_redirect_uri", redirectURI))
            if let state { parameters.append(FormParameter("state", state)) }
        }
        return endpoint.adding(parameters)
    }
}
