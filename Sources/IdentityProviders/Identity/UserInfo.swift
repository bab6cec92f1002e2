import Encodings

/// What the API of a provider says about a person: the userinfo endpoint of OpenID Connect, or that of OAuth 2.0 alone.
enum UserInfo {
    private static let limits = JSONLimits(
        maxBytes: ProviderRequest.maximumAnswerBytes, maxDepth: 16, maxMembers: 1000, maxValues: 10_000)

    /// The request to an API: the access token in the header, and a name, without which GitHub does not answer.
    static func request(
        _ endpoint: EndpointURL, accessToken: String, of provider: ProviderConfiguration
    ) -> ProviderRequest {
        ProviderRequest(
            .get, endpoint,
            headers: [
                ("Authorization", "Bearer " + accessToken), ("Accept", "application/json"), ("User-Agent", "gatehouse"),
            ], addresses: provider.addresses)
    }

    /// Judges the answer of a userinfo endpoint: JSON, of the very person whom the ID token names (OpenID Connect Core
    /// 1.0 §5.3.2). A signed answer (`application/jwt`) is not asked for and not read.
    ///
    /// - Returns: the claims of the ID token, and beneath them those that it does not have.
    static func claims(_ answer: ProviderAnswer, beneath token: ProviderToken) throws(ProviderFault) -> JSONObject {
        let object = try answer.object(limits: limits)
        guard let subject = object["sub"]?.stringValue, subject.hasSameBytes(as: token.subject) else {
            throw ProviderFault(.userInfoSubjectMismatch, "userinfo is of another person than the ID token")
        }
        var claims = token.claims
        // `email_verified` speaks of the address beside it, and of no other.
        let isOtherEmail = claims["email"].map { $0 != object["email"] } ?? false
        // `email_verified` speaks of the address beside it, and of no other.
        if claims["email"] == nil, object["email"] != nil { claims["email_verified"] = nil }
        for (name, value) in object.members where claims[name] == nil && !ofToken.contains(ByteName(name)) {
            if isOtherEmail, name.hasSameBytes(as: "email_verified") { continue }
            claims[name] = value
        }
        return claims
    }

    /// Claims about the token and the sign-in, which only a signature makes true.
    private static let ofToken = Set(
        [
            "iss", "aud", "exp", "nbf", "iat", "jti", "azp", "nonce", "acr", "amr", "auth_time", "sid", "at_hash",
            "events",
        ].map(ByteName.init))

    /// Judges the answer of an OAuth 2.0 API: JSON with a subject; that it is sound is for ``ExternalIdentity`` to say.
    ///
    /// What only an ID token could say is left out.
    static func claims(ofAPI answer: ProviderAnswer) throws(ProviderFault) -> JSONObject {
        let object = try answer.object(limits: limits)
        var claims = JSONObject()
        for (name, value) in object.members where !ofToken.contains(ByteName(name)) { claims[name] = value }
        return claims
    }

    /// Puts the address of a list of addresses in the place of the profile's, which is for display and may belong to
    /// another person: the primary one, and whether it was verified.
    static func claims(
        _ claims: JSONObject, withEmails answer: ProviderAnswer, as name: String
    ) throws(ProviderFault) -> JSONObject {
        guard case .array(let entries) = try answer.value(limits: limits) else {
            throw ProviderFault(.malformed, "the list of e-mail addresses is no list")
        }
        let primary = entries.lazy.compactMap(\.objectValue).first { $0["primary"] == .bool(true) }
        var claims = claims
        claims[name] = primary?["email"]
        claims["email_verified"] = primary?["verified"]
        return claims
    }
}
