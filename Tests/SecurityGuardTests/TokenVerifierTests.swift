import BasicsForTests
import JOSE
import StateSurface
import Testing

@testable import SecurityGuard

@Suite("Access tokens")
struct TokenVerifierTests {
    let fixture: Fixture
    init() async throws { fixture = try await Fixture() }

    func claims(_ adjust: (inout JSONObject) -> Void = { _ in }) -> JSONObject {
        let now = fixture.clock.now / 1000
        var claims: JSONObject = [
            "iss": "https://gate.example", "aud": ["other", "gatehouse"], "sub": "usr_abc", "client_id": "gatehouse",
            "tenant_id": "acme", "jti": "j1", "scope": "read write", "iat": .integer(now), "nbf": .integer(now),
            "exp": .integer(now + 60), "fid": "f1",
        ]
        adjust(&claims)
        return claims
    }

    func sign(_ claims: JSONObject, type: String = "at+jwt") throws -> String {
        try fixture.subject.keyRing.signingKey.sign(claims: claims, type: type)
    }

    @Test("An issued token is accepted and says who calls")
    func roundTrip() async throws {
        let account = try await fixture.account()
        let tokens = try await fixture.subject.openFamily(for: account)
        let principal = try fixture.judge(tokens.accessToken).get()
        #expect(principal == tokens.principal)
        #expect(principal.subject == account.userID)
        #expect(principal.tenantID == "acme")
        #expect(principal.familyID == tokens.familyID)
        #expect(principal.scope == ["read", "write"])
        #expect(principal.expiresAt - principal.issuedAt == 900_000)
        #expect(tokens.expiresIn == 900)
        #expect(principal.isUser)
    }

    @Test("The token holds exactly the claims of the contract and its type")
    func claimsOfIssuedToken() async throws {
        let tokens = try await fixture.login()
        let token = try UnverifiedToken(Array(tokens.accessToken.utf8))
        let names = try token.unverifiedClaims().members.names
        #expect(
            Set(names) == [
                "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "client_id", "tenant_id", "scope", "fid", "auth_time",
                "email",
            ])
        #expect(token.header.type == "at+jwt")
        #expect(token.header.keyID == fixture.subject.keyRing.signingKey.verificationKey.keyID)
    }

    @Test("Both spellings of the type are accepted", arguments: ["at+jwt", "application/at+jwt"])
    func goodType(type: String) throws { #expect(fixture.judge(try sign(claims(), type: type)).isGood) }

    @Test("A token of another type is refused", arguments: ["JWT", "gatehouse-assertion+jwt", "logout+jwt", ""])
    func otherType(type: String) throws {
        #expect(fixture.judge(try sign(claims(), type: type)).fault?.code == .invalidToken)
    }

    @Test("An assertion made for an upstream is no access token")
    func assertionIsNoAccessToken() async throws {
        let principal = try await fixture.login().principal
        let identity = AssertedIdentity(
            subject: principal.subject, tenantID: principal.tenantID, clientID: principal.clientID, scope: "",
            email: nil, name: nil, groups: [], sessionID: nil)
        let text = try fixture.subject.signAssertion(identity, audience: "gatehouse")
        #expect(fixture.judge(text).fault?.code == .invalidToken)
        let assertion = try UnverifiedToken(Array(text.utf8))
        let members = try assertion.unverifiedClaims().members
        #expect(assertion.header.type == "gatehouse-assertion+jwt")
        #expect(members["sub"]?.stringValue == principal.subject)
        #expect(members["session"] == nil)
        #expect((members["exp"]?.int64Value ?? 0) - (members["iat"]?.int64Value ?? 0) <= 60)
    }

    @Test(
        "A signed token without a required claim is refused",
        arguments: ["iss", "exp", "aud", "sub", "client_id", "iat", "jti", "tenant_id"])
    func missingClaim(name: String) throws {
        #expect(fixture.judge(try sign(claims { $0[name] = nil })).fault?.code == .invalidToken)
    }

    @Test(
        "A signed token with an odd claim is refused",
        arguments: [
            ("sub", "alice"), ("sub", "usr_"), ("sub", "usr_a b"), ("sub", "usr_\u{00e9}"), ("sub", "usr_a\r\nX: y"),
            ("sub", .array(["usr_abc"])), ("sub", .string("usr_" + String(repeating: "a", count: 200))),
            ("tenant_id", "a\nb"), ("tenant_id", ""), ("scope", "a  b"), ("scope", .array(["a"])), ("fid", 7),
            ("jti", ""), ("client_id", .null), ("iss", "https://gate.example/"),
            ("iss", .array(["https://gate.example"])),
            ("aud", "gatehouse2"), ("aud", .array([])), ("exp", "9999999999"), ("exp", .integer(4_000_000_000)),
        ] as [(String, JSONValue)])
    func oddClaim(name: String, value: JSONValue) throws {
        #expect(fixture.judge(try sign(claims { $0[name] = value })).fault?.code == .invalidToken)
    }

    @Test("Only a token that is good but for its end is called expired")
    func expired() async throws {
        let tokens = try await fixture.login()
        let odd = try sign(claims { $0["aud"] = "elsewhere" })
        fixture.clock.advance(by: 900_000 + 30_000 - 1)
        #expect(fixture.judge(tokens.accessToken).isGood)
        fixture.clock.advance(by: 1)
        #expect(fixture.judge(tokens.accessToken).fault?.code == .tokenExpired)
        #expect(fixture.judge(odd).fault?.code == .invalidToken)
        let forged = String(tokens.accessToken.dropLast(4)) + "AAAA"
        #expect(fixture.judge(forged).fault?.code == .invalidToken)
        #expect(fixture.subject.proofForLogout(token: tokens.accessToken.utf8) == tokens.principal)
        #expect(fixture.subject.proofForLogout(token: forged.utf8) == nil)
    }

    @Test("A revoked token is not called expired after its end")
    func revokedAndExpired() async throws {
        let tokens = try await fixture.login()
        try await fixture.subject.revoke(token: tokens.principal)
        fixture.clock.advance(by: 1_000_000)
        #expect(fixture.judge(tokens.accessToken).fault?.reason == "revoked")
    }

    @Test("A key of another gateway is unknown here, with any claims")
    func foreignKey() async throws {
        let other = try await Fixture()
        let token = try await other.login().accessToken
        #expect(fixture.judge(token).fault?.reason == "key_unknown")
    }

    @Test("A token beyond 8 KiB is refused before it is read")
    func tooLarge() throws {
        let token = try sign(claims { $0["x"] = .string(String(repeating: "a", count: 8000)) })
        #expect(fixture.judge(token).fault?.reason == "too_large")
    }

    @Test("Text that is no token is refused", arguments: ["", ".", "..", "a.b.c", "ref_abc", "....."])
    func noToken(text: String) { #expect(fixture.judge(text).fault?.code == .invalidToken) }
}
