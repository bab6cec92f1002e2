import Encodings
import JOSE
import Testing

@testable import Webhooks

@Suite("A security event token")
struct SecurityEventTokenTests {
    private let event = WebhookEvent(
        id: "evt_1", kind: .sessionEnded, occurredAt: 1_800_000_000_500, tenantID: "acme", userID: "usr_1",
        sessionID: "ses_AAAAAAAABBBBBBBBCCCCCC", method: "keycloak", reason: "backchannel_logout", requestID: "req_1")

    @Test("says what happened to whom, and is verified with the published key") func token() throws {
        let key = try SigningKey.generate(.es256)
        let text = try SecurityEventToken.sign(
            event, issuer: "https://gate.example", audience: "https://app.example/hook", with: key,
            now: 1_800_000_009_000)
        let keys = try JWKSet(parsing: JWKSet.publicJSON(of: [key.verificationKey]).utf8, policy: .remote)
        let rules = ClaimsRules(
            issuer: "https://gate.example", audience: ["https://app.example/hook"], types: ["secevent+jwt"],
            requiredClaims: ["jti", "iat", "events"])
        let claims = try UnverifiedToken(text).verify(with: keys, rules: rules, now: 1_800_000_010).get().claims
        let expected: JSONObject = [
            "iss": "https://gate.example", "aud": "https://app.example/hook", "iat": 1_800_000_009, "jti": "evt_1",
            "toe": 1_800_000_000, "txn": "req_1",
            "sub_id": ["format": "iss_sub", "iss": "https://gate.example", "sub": "usr_1"], "tenant_id": "acme",
            "events": [
                "https://gate.example/events/session.ended": [
                    "session": "ses_AAAAAAAA", "method": "keycloak", "reason": "backchannel_logout",
                ]
            ],
        ]
        #expect(claims.members == expected)
    }

    @Test("is no access token: it has another type, no sub and no end") func confusion() throws {
        let claims = SecurityEventToken.claims(of: event, issuer: "https://gate.example", audience: "a", now: 0)
        #expect(claims["sub"] == nil && claims["exp"] == nil && claims["client_id"] == nil)
        let key = try SigningKey.generate(.es256)
        let text = try SecurityEventToken.sign(
            event, issuer: "https://gate.example", audience: "gatehouse", with: key, now: 1_800_000_000_000)
        let rules = ClaimsRules.accessToken(issuer: "https://gate.example", audience: ["gatehouse"])
        let verdict = try UnverifiedToken(text).verify(with: key.verificationKey, rules: rules, now: 1_800_000_000)
        guard case .failure(let refusal) = verdict else {
            Issue.record("an event passed for an access token")
            return
        }
        #expect(refusal.reason == .typeMismatch)
    }

    @Test("never has a whole session id, and says only what is known") func session() throws {
        let text = SecurityEventToken.claims(of: event, issuer: "i", audience: "a", now: 0).serialized() + event.stored
        #expect(!text.contains("BBBB"))
        let bare = WebhookEvent(id: "evt_2", kind: .loginFailed, occurredAt: 0)
        let claims = SecurityEventToken.claims(of: bare, issuer: "https://gate.example/", audience: "a", now: 0)
        #expect(claims.names == ["iss", "aud", "iat", "jti", "toe", "events"])
        #expect(claims["events"]?.objectValue?.names == ["https://gate.example/events/login.failed"])
    }

    @Test("is of an event that is stored and read again", arguments: WebhookEvent.Kind.allCases)
    func stored(kind: WebhookEvent.Kind) {
        let event = WebhookEvent(
            id: "evt_1", kind: kind, occurredAt: 5, tenantID: "acme", sessionID: "ses_AAAAAAAABBBB", requestID: "r")
        #expect(WebhookEvent(id: "evt_1", stored: event.stored) == event)
        #expect(WebhookEvent(id: "evt_1", stored: "{}") == nil)
        #expect(WebhookEvent(id: "evt_1", stored: "{\"kind\":\"other\",\"at\":1}") == nil)
    }
}
