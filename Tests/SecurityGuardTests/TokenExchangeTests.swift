import BasicsForTests
import JOSE
import OAuth
import StateSurface
import StateSurfaceTesting
import Testing

@testable import SecurityGuard

@Suite("Token exchange")
struct TokenExchangeTests {
    static let partner = "https://idp.example"
    let key: SigningKey
    let fixture: Fixture

    init() async throws {
        key = try SigningKey.generate(.es256)
        let set = Array(JWKSet.publicJSON(of: [key.verificationKey]).utf8)
        let issuer = TrustedIssuer(
            issuer: Self.partner, keys: .inline(set), audiences: ["gate"], tenants: ["acme", "beta"],
            algorithms: [.es256], scopes: ["orders": ["orders:read"], "root": ["admin"]], defaultScope: ["base"])
        let powerless = TrustedIssuer(issuer: "https://none.example", keys: .inline(set), audiences: ["gate"])
        fixture = try await Fixture(issuers: [issuer, powerless])
    }

    func subjectToken(type: String? = "JWT", _ adjust: (inout JSONObject) -> Void = { _ in }) throws -> String {
        let now = fixture.clock.now / 1000
        var claims: JSONObject = [
            "iss": .string(Self.partner), "sub": "alice", "aud": ["gate"], "iat": .integer(now),
            "exp": .integer(now + 300), "scope": "orders unknown", "email": "ada@example.com",
        ]
        adjust(&claims)
        return try key.sign(claims: claims, kind: type)
    }

    /// Signs in with a token.
    func identify(_ token: String) async throws -> SubjectTokenOwner {
        try await fixture.subject.identify(subjectToken: token, tenantID: "acme")
    }

    func exchange(
        _ token: String, tenant: String? = "acme", scope: String? = nil, client: ClientRecord? = nil,
        audience: [String] = [], type: String = ExchangeRequest.jwtType
    ) async throws -> ExchangedToken {
        try await fixture.subject.exchange(
            ExchangeRequest(
                subjectToken: token, subjectTokenType: type, audience: audience, scope: scope, tenantID: tenant,
                client: client))
    }

    @Test("A trusted issuer's user becomes a user of ours, the same at each exchange and another in each tenant")
    func identity() async throws {
        let local = try await fixture.account()
        let first = try await exchange(subjectToken()).principal
        let second = try await exchange(subjectToken()).principal
        let elsewhere = try await exchange(subjectToken(), tenant: "beta").principal
        #expect(first.subject.hasPrefix("usr_"))
        #expect(first.subject == second.subject)
        #expect(first.subject != elsewhere.subject)
        // The e-mail it claims opens no account.
        #expect(first.subject != local.userID)
        #expect(first.clientID == "gatehouse" && first.tenantID == "acme" && elsewhere.tenantID == "beta")
        await #expect(throws: AuthError(.invalidCredentials)) {
            try await fixture.subject.authenticate(email: "external:\(first.subject)", password: "x")
        }
    }

    @Test(
        "Disabling ends exchanged tokens whatever the clock they were made by; enabled again, the next is good at once")
    func enabledAgain() async throws {
        let first = try await exchange(subjectToken())
        let userID = first.principal.subject
        // By a node whose clock is behind.
        let behind = fixture.clock.now - 20_000
        #expect(try await fixture.state.disable(userID: userID, at: behind, revokedUntil: behind + 900_000))
        #expect(fixture.judge(first.accessToken).fault?.reason == "revoked")
        #expect(try await fixture.subject.accounts.enable(userID: userID))
        let second = try await exchange(subjectToken())
        #expect(fixture.judge(second.accessToken).isGood)
        // And by one whose clock is ahead.
        let ahead = fixture.clock.now + 20_000
        #expect(try await fixture.state.disable(userID: userID, at: ahead, revokedUntil: ahead + 900_000))
        #expect(fixture.judge(second.accessToken).fault?.reason == "revoked")
        #expect(try await fixture.subject.accounts.enable(userID: userID))
        #expect(fixture.judge(try await exchange(subjectToken()).accessToken).isGood)
    }

    @Test("Scopes are those that the map knows, and lifetime no longer than the subject token's")
    func neverWider() async throws {
        let token = try await exchange(subjectToken())
        #expect(token.principal.scope == ["base", "orders:read"])
        #expect(token.expiresIn == 300)
        #expect(fixture.judge(token.accessToken).isGood)
        #expect(try await exchange(subjectToken(), scope: "base").principal.scope == ["base"])
        await #expect(throws: OAuthFault(.invalidScope, "")) { try await exchange(subjectToken(), scope: "admin") }
        #expect(
            try await exchange(subjectToken { $0["exp"] = .integer(fixture.clock.now / 1000 + 9999) }).expiresIn
                == 900)
    }

    @Test("An issuer speaks only for tenants that are its own")
    func tenants() async throws {
        for tenant in ["umbrella", "ACME", nil] {
            await #expect(throws: OAuthFault(.invalidGrant, "")) { try await exchange(subjectToken(), tenant: tenant) }
        }
        let powerless = try subjectToken { $0["iss"] = "https://none.example" }
        for tenant in ["acme", nil] {
            await #expect(throws: OAuthFault(.invalidGrant, "")) { try await exchange(powerless, tenant: tenant) }
        }
        let client = try await fixture.subject.clients.add(name: "c", tenantID: "beta", scope: []).client
        #expect(try await exchange(subjectToken(), tenant: nil, client: client).principal.tenantID == "beta")
        await #expect(throws: OAuthFault(.invalidGrant, "")) { try await exchange(subjectToken(), client: client) }
    }

    @Test(
        "A subject token that is not wholly good is refused",
        arguments: [
            ("iss", "https://evil.example"), ("iss", "https://idp.example/"), ("aud", "gatehouse"), ("aud", .array([])),
            ("exp", 1), ("exp", .null), ("sub", ""), ("sub", 7), ("sub", "a\u{0}b"),
            ("sub", .string(String(repeating: "a", count: 300))),
            ("nbf", 4_000_000_000),
        ] as [(String, JSONValue)])
    func badClaims(name: String, value: JSONValue) async throws {
        let token = try subjectToken { $0[name] = value }
        await #expect(throws: OAuthFault(.invalidGrant, "")) { try await exchange(token) }
    }

    @Test("Plain JWTs and access tokens are exchanged and sign in", arguments: TokenKinds.callers)
    func callers(type: String?) async throws {
        let token = try subjectToken(type: type)
        let exchanged = try await exchange(token).principal
        #expect(try await identify(token).account.userID == exchanged.subject)
    }

    @Test("Tokens that are made for something else are refused by their type", arguments: TokenKinds.others)
    func otherType(type: String) async throws {
        try await expectRefused(try subjectToken(type: type), as: "type_mismatch")
        #expect(try await exchange(subjectToken()).principal.isUser)
    }

    @Test("A security event is no subject token, whatever its type", arguments: TokenKinds.events)
    func events(value: JSONValue) async throws {
        for type in TokenKinds.callers {
            try await expectRefused(try subjectToken(type: type) { $0["events"] = value }, as: "type_mismatch")
        }
        #expect(try await exchange(subjectToken()).principal.isUser)
    }

    /// A token that is neither exchanged nor signs in, for this reason.
    func expectRefused(_ token: String, as reason: String) async throws {
        await #expect(throws: OAuthFault(.invalidGrant, "")) { try await exchange(token) }
        #expect(fixture.reasons(.exchangeRefused).last == reason)
        let fault = await #expect(throws: OAuthFault.self) { try await identify(token) }
        #expect(fault?.code == .invalidGrant && fault?.reason == reason)
    }

    @Test("A token signs in until its exp, however old it is; its iat is the time of the sign-in")
    func age() async throws {
        let age: Int64 = 40 * 86_400_000
        let old = try subjectToken { $0["iat"] = .integer((fixture.clock.now - age) / 1000) }
        #expect(try await identify(old).authenticatedAt == fixture.clock.now - age)
        let undated = try subjectToken { $0["iat"] = nil }
        #expect(try await identify(undated).authenticatedAt == fixture.clock.now)
    }

    @Test("Another's signature, our own tokens and nonsense are refused")
    func badTokens() async throws {
        let stranger = try SigningKey.generate(.es256, keyID: key.keyID)
        let now = fixture.clock.now / 1000
        let forged = try stranger.sign(
            claims: ["iss": .string(Self.partner), "sub": "alice", "aud": "gate", "exp": .integer(now + 60)],
            type: "JWT")
        let ours = try await fixture.login().accessToken
        for token in [forged, ours, "", "a.b.c"] {
            await #expect(throws: OAuthFault(.invalidGrant, "")) { try await exchange(token) }
        }
        #expect(fixture.reasons(.exchangeRefused).first == "signature_invalid")
    }

    @Test("Other types and audiences than ours are refused in RFC 8693's words")
    func form() async throws {
        let token = try subjectToken()
        await #expect(throws: OAuthFault(.invalidRequest, "")) {
            try await exchange(token, type: "urn:ietf:params:oauth:token-type:saml2")
        }
        await #expect(throws: OAuthFault(.invalidTarget, "")) { try await exchange(token, audience: ["elsewhere"]) }
        #expect(try await exchange(token, audience: ["gatehouse"]).principal.isUser)
    }

    @Test("A disabled user gets nothing more")
    func disabled() async throws {
        let principal = try await exchange(subjectToken()).principal
        _ = try await fixture.subject.accounts.disable(userID: principal.subject)
        await #expect(throws: OAuthFault(.invalidGrant, "")) { try await exchange(subjectToken()) }
    }
}
