import Encodings
import JOSE
import Testing

@testable import IdentityProviders

@Suite("A logout token")
struct LogoutTokenTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let expected: String
        let edit: @Sendable (inout JSONObject) -> Void

        init(_ name: String, _ expected: String, _ edit: @escaping @Sendable (inout JSONObject) -> Void) {
            self.name = name
            self.expected = expected
            self.edit = edit
        }

        var testDescription: String { name }
    }

    private static let good: JSONObject = [
        "iss": "https://idp.example", "aud": ["client"], "iat": 1_800_000_000, "exp": 1_800_000_120, "jti": "logout-1",
        "sub": "person-1", "sid": "idp-session-1",
        "events": ["http://schemas.openid.net/event/backchannel-logout": [:]],
    ]

    private func judge(
        _ claims: JSONObject, type: String? = "logout+jwt", key: SigningKey? = nil
    ) async throws -> Result<LogoutToken, ProviderFault> {
        let key = try key ?? TestKeys.provider.get()
        let text = try key.sign(payload: claims.serializedBytes(), type: type)
        return await World(try Script()).provider().judge(logoutToken: text)
    }

    @Test("names a session, and is remembered until it can't come again") func session() async throws {
        let token = try await judge(Self.good).get()
        #expect(token.target == .session("idp-session-1", subject: "person-1"))
        #expect(token.replay.tokenID == "logout-1" && token.replay.until == 1_800_000_150_000)
        var seen: Set<LogoutToken.Replay> = []
        #expect(seen.insert(token.replay).inserted)
        var later = Self.good
        later["exp"] = 1_800_000_121
        #expect(!seen.insert(try await judge(later).get().replay).inserted)
        later["jti"] = "logout-2"
        #expect(seen.insert(try await judge(later).get().replay).inserted)
    }

    @Test("names a person where it names no session") func subject() async throws {
        var claims = Self.good
        claims["sid"] = nil
        #expect(try await judge(claims).get().target == .subject("person-1"))
        claims = Self.good
        claims["sub"] = nil
        #expect(try await judge(claims).get().target == .session("idp-session-1", subject: nil))
    }

    @Test(
        "may have the types that providers write",
        arguments: ["logout+jwt", "LOGOUT+JWT", "application/logout+jwt", "JWT", nil])
    func types(type: String?) async throws {
        _ = try await judge(Self.good, type: type).get()
    }

    private static let faults: [Case] = [
        Case("another issuer", "issuer_mismatch") { $0["iss"] = "https://evil.example" },
        Case("no issuer", "issuer_mismatch") { $0["iss"] = nil },
        Case("another audience", "audience_mismatch") { $0["aud"] = "other" },
        Case("no audience", "claim_missing") { $0["aud"] = nil },
        Case("no beginning", "claim_missing") { $0["iat"] = nil },
        Case("a beginning to come", "issued_in_future") { $0["iat"] = 1_800_000_031 },
        Case("no end", "claim_missing") { $0["exp"] = nil },
        Case("an end that has come", "expired") {
            $0["iat"] = 1_799_999_000
            $0["exp"] = 1_799_999_970
        },
        Case("a life of more than a day", "lifetime_exceeded") { $0["exp"] = 1_800_086_401 },
        Case("no jti", "claim_missing") { $0["jti"] = nil },
        Case("an empty jti", "claim_invalid") { $0["jti"] = "" },
        Case("a jti of 257 bytes", "claim_invalid") { $0["jti"] = .string(String(repeating: "a", count: 257)) },
        Case("no events", "claim_missing") { $0["events"] = nil },
        Case("events that are a list", "claim_invalid") {
            $0["events"] = ["http://schemas.openid.net/event/backchannel-logout"]
        },
        Case("another event", "type_mismatch") { $0["events"] = ["http://schemas.openid.net/event/other": [:]] },
        Case("an event that is true", "type_mismatch") {
            $0["events"] = ["http://schemas.openid.net/event/backchannel-logout": true]
        },
        Case("a nonce", "type_mismatch") { $0["nonce"] = "n" },
        Case("neither session nor subject", "claim_missing") {
            $0["sid"] = nil
            $0["sub"] = nil
        },
        Case("empty session and subject", "claim_missing") {
            $0["sid"] = ""
            $0["sub"] = ""
        },
        Case("a session that is no string", "claim_invalid") { $0["sid"] = 7 },
        Case("a subject that is no string", "claim_invalid") { $0["sub"] = 7 },
    ]

    @Test("with one fault ends nothing", arguments: faults)
    func fault(fault: Case) async throws {
        var claims = Self.good
        fault.edit(&claims)
        guard case .failure(let refusal) = try await judge(claims) else {
            Issue.record("sessions would have ended")
            return
        }
        #expect(refusal.label == fault.expected)
    }

    @Test("of another type, by another key or by a shared secret ends nothing") func forged() async throws {
        for type in ["at+jwt", "secevent+jwt", "dpop+jwt", ""] {
            guard case .failure(let refusal) = try await judge(Self.good, type: type) else {
                Issue.record("\(type) was taken")
                continue
            }
            #expect(refusal.label == "type_mismatch")
        }
        for key in [try TestKeys.other.get(), try TestKeys.symmetric.get()] {
            guard case .failure(let refusal) = try await judge(Self.good, key: key) else {
                Issue.record("a foreign signature was taken")
                continue
            }
            #expect(refusal.label == "key_unknown")
        }
        let secret = try TestKeys.symmetric.get()
        let token = try UnverifiedToken(try secret.sign(payload: Self.good.serializedBytes(), type: "logout+jwt"))
        let verdict = LogoutToken.verify(token, with: secret.verificationKey, of: Script.openID, leeway: 30, now: start)
        guard case .failure(let refusal) = verdict else {
            Issue.record("a shared secret was taken")
            return
        }
        #expect(refusal.reason == .algorithmNotAllowed)
    }

    @Test("is no ID token, and an ID token is no logout token") func confusion() async throws {
        var script = try Script()
        script.configuration.acceptsTokens = true
        let provider = World(script).provider()
        let key = try TestKeys.provider.get()
        let logout = try key.sign(payload: Self.good.serializedBytes(), type: "JWT")
        guard case .failure(let refusal) = await provider.identify(subjectToken: logout) else {
            Issue.record("a logout token signed in")
            return
        }
        #expect(refusal.label == "type_mismatch")
        let idToken = try script.idToken(nonce: nil)
        guard case .success = await provider.identify(subjectToken: idToken) else {
            Issue.record("the control failed")
            return
        }
        guard case .failure = await provider.judge(logoutToken: idToken) else {
            Issue.record("an ID token logged out")
            return
        }
    }
}
