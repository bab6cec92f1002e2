import JOSE

/// An event as it is sent: a Security Event Token (RFC 8417), pushed as RFC 8935 says.
///
/// The receiver verifies it with the gateway's published keys, so it needs no secret of its own. It is signed anew for
/// each attempt, because a key may be retired between two of them; `jti` and `toe` stay.
package enum SecurityEventToken {
    /// The `typ` of the header.
    package static let type = "secevent+jwt"
    /// The `Content-Type` of the request.
    package static let mediaType = "application/secevent+jwt"
    /// The field of the request that repeats the `jti`.
    package static let idField = "Event-Id"

    /// The name of an event in `events`: a URI of the issuer's.
    package static func eventURI(_ kind: WebhookEvent.Kind, issuer: String) -> String {
        let base = issuer.utf8.last == UInt8(ascii: "/") ? String(issuer.dropLast()) : issuer
        return base + "/events/" + kind.rawValue
    }

    /// The body of a request.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - issuer: `tokens.issuer`.
    ///   - audience: the URL that it is sent to, so that a receiver can't show it to another.
    ///   - key: the gateway's active key.
    ///   - now: milliseconds since 1970.
    package static func sign(
        _ event: WebhookEvent, issuer: String, audience: String, with key: SigningKey, now: Int64
    ) throws(JOSEError) -> String {
        try key.sign(
            claims: claims(of: event, issuer: issuer, audience: audience, now: now), type: type)
    }

    /// The claims. There is no `exp` (RFC 8417 §2.2: a statement about the past does not expire) and no `sub`: a token
    /// that names a subject could be taken for an access token (§4.6).
    static func claims(of event: WebhookEvent, issuer: String, audience: String, now: Int64) -> JSONObject {
        var detail = JSONObject()
        detail["session"] = event.session.map(JSONValue.string)
        detail["method"] = event.method.map(JSONValue.string)
        detail["reason"] = event.reason.map(JSONValue.string)
        var claims: JSONObject = [
            "iss": .string(issuer), "aud": .string(audience), "iat": .integer(now / 1000), "jti": .string(event.id),
            "toe": .integer(event.occurredAt / 1000),
        ]
        claims["txn"] = event.requestID.map(JSONValue.string)
        if let userID = event.userID {
            // RFC 9493 §3.2.3.
            claims["sub_id"] = ["format": "iss_sub", "iss": .string(issuer), "sub": .string(userID)]
        }
        claims["tenant_id"] = event.tenantID.map(JSONValue.string)
        var events = JSONObject()
        events[eventURI(event.kind, issuer: issuer)] = .object(detail)
        claims["events"] = .object(events)
        return claims
    }
}
