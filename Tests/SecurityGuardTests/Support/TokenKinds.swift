import JOSE

/// The kinds of tokens that an issuer signs with one key.
enum TokenKinds {
    /// The `typ` of tokens that say who calls, in their spellings; nil for none.
    static let callers = [
        nil, "JWT", "jwt", "application/jwt", "at+jwt", "AT+JWT", "application/at+jwt", "Application/At+Jwt",
    ]
    /// The `typ` of tokens for something else, and what is no media type of either kind.
    static let others = [
        "logout+jwt", "application/logout+jwt", "secevent+jwt", "dpop+jwt", "id_token", "id_token+jwt",
        "client-authentication+jwt", "oauth-authz-req+jwt", "token-introspection+jwt", "refresh+jwt",
        "gatehouse-assertion+jwt", "jwt+at", "at+jwt ", "at+jwt;a=b", "text/jwt", "application/x/at+jwt",
        "application/", "x", "",
    ]
    /// Values of `events`: of a back-channel logout, of another event, and of none.
    static let events: [JSONValue] = [
        ["http://schemas.openid.net/event/backchannel-logout": [:]],
        ["https://schemas.openid.net/secevent/caep/event-type/session-revoked": [:]], [:], [], "logout", .null,
    ]
}

extension SigningKey {
    /// Signs claims as a token of this type; nil for none.
    func sign(claims: JSONObject, kind: String?) throws -> String {
        try sign(payload: claims.serializedBytes(), type: kind)
    }
}
