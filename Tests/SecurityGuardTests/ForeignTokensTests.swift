import BasicsForTests
import Encodings
import JOSE
import StateSurface
import Testing

@testable import SecurityGuard

/// Tokens of other issuers at the gate itself.
@Suite struct ForeignTokensTests {
    private static let partner = "https://idp.example"
    private let key: SigningKey
    private let fixture: Fixture

    init() async throws {
        key = try SigningKey.generate(.es256)
        let set = Array(JWKSet.publicJSON(of: [key.verificationKey]).utf8)
        let open = TrustedIssuer(
            issuer: Self.partner, keys: .inline(set), audiences: ["gate"], tenants: ["acme"], algorithms: [.es256],
            scopes: ["orders": ["orders:read"]], atGate: true)
        let closed = TrustedIssuer(
            issuer: "https://other.example", keys: .inline(set), audiences: ["gate"], tenants: ["acme"],
            algorithms: [.es256])
        fixture = try await Fixture(issuers: [open, closed])
    }

    private func token(
        type: String? = "JWT", key: SigningKey? = nil, _ adjust: (inout JSONObject) -> Void = { _ in }
    ) throws -> [UInt8] {
        let now = fixture.clock.now / 1_000
        var claims: JSONObject = [
            "iss": .string(Self.partner), "sub": "alice", "aud": ["gate"], "iat": .integer(now),
            "exp": .integer(now + 300), "scope": "orders unknown", "jti": "same",
        ]
        adjust(&claims)
        return Array(try (key ?? self.key).sign(claims: claims, kind: type).utf8)
    }

    private func identify(_ token: [UInt8]) async throws -> Principal {
        try await fixture.subject.foreignTokens.identify(token, resource: nil)
    }

    @Test("Issuer and subject are the same user as in an exchange, with what the issuer may grant")
    func identity() async throws {
        let token = try token { $0["auth_time"] = .integer(fixture.clock.now / 1_000 - 60) }
        #expect(fixture.subject.foreignTokens.known(token, now: fixture.clock.now) == nil)
        let principal = try await identify(token)
        let exchanged = try await fixture.subject.exchange(
            ExchangeRequest(
                subjectToken: String(decoding: token, as: UTF8.self), subjectTokenType: ExchangeRequest.jwtType))
        #expect(principal.subject == exchanged.principal.subject && principal.tenantID == "acme")
        #expect(principal.scope == ["orders:read"] && principal.isUser)
        #expect(principal.authenticatedAt == fixture.clock.now - 60_000)
        #expect(fixture.subject.foreignTokens.known(token, now: fixture.clock.now) === principal)
        // Another token of the same person is another principal of the same origin.
        let newer = try await identify(try self.token { $0["jti"] = "other" })
        #expect(newer.foreign?.origin == principal.foreign?.origin && newer.tokenID != principal.tokenID)
        let another = try await identify(try self.token { $0["sub"] = "bob" })
        #expect(another.foreign?.origin != principal.foreign?.origin && another.subject != principal.subject)
    }

    @Test("It is no token of the gateway's own: only the gate's question takes it")
    func confusion() async throws {
        let token = try token()
        #expect(!fixture.judge(String(decoding: token, as: UTF8.self)).isGood)
        let own = try await fixture.login().accessToken
        #expect(!fixture.subject.foreignTokens.claims(Array(own.utf8), resource: nil))
        await #expect(throws: TokenFault.invalid("")) { try await identify(Array(own.utf8)) }
        // The gateway's own name signed by the partner's key, and the other way round.
        let policy = fixture.policy
        let posing = try self.token { $0["iss"] = .string(policy.issuer) }
        #expect(
            !fixture.subject.foreignTokens.claims(posing, resource: nil)
                && !fixture.judge(String(decoding: posing, as: UTF8.self)).isGood)
        let forged = try self.token(key: fixture.subject.keyRing.signingKey)
        await #expect(throws: TokenFault.invalid("")) { try await identify(forged) }
    }

    @Test(
        "Whatever is wrong with it is one refusal, and only a token that is otherwise good has expired",
        arguments: [
            ("aud", "elsewhere", "invalid_token"), ("iss", "https://other.example", "invalid_token"),
            ("iss", "https://idp.example/", "invalid_token"), ("sub", "", "invalid_token"),
            ("exp", "past", "token_expired"), ("nbf", "future", "invalid_token"),
        ])
    func refused(claim: String, value: String, code: String) async throws {
        let now = fixture.clock.now / 1_000
        let token = try token { claims in
            claims["iat"] = .integer(now - 200)
            claims[claim] =
                switch value {
                case "past": .integer(now - 100)
                case "future": .integer(now + 1_000)
                default: .string(value)
                }
        }
        let fault = await #expect(throws: TokenFault.self) { try await identify(token) }
        #expect(fault?.code.rawValue == code, "\(fault?.reason ?? "")")
        _ = try await identify(try self.token())
    }

    @Test("Plain JWTs and access tokens say who calls, at a resource, too", arguments: TokenKinds.callers)
    func callers(type: String?) async throws {
        let general = try await identify(try token(type: type))
        #expect(try await identifyAtResource(type: type).subject == general.subject)
    }

    @Test("Tokens that are made for something else are refused by their type", arguments: TokenKinds.others)
    func otherType(type: String) async throws {
        await expectTypeMismatch { try await identify(try token(type: type)) }
        await expectTypeMismatch { try await identifyAtResource(type: type) }
        _ = try await identify(try token())
    }

    @Test("A security event says nothing about who calls, whatever its type", arguments: TokenKinds.events)
    func events(value: JSONValue) async throws {
        for type in TokenKinds.callers {
            await expectTypeMismatch { try await identify(try token(type: type) { $0["events"] = value }) }
            await expectTypeMismatch { try await identifyAtResource(type: type) { $0["events"] = value } }
        }
        _ = try await identifyAtResource(type: "JWT")
    }

    /// Presents a token of this type at a resource that the partner grants access to.
    private func identifyAtResource(
        type: String?, _ adjust: (inout JSONObject) -> Void = { _ in }
    ) async throws -> Principal {
        let resource = "https://gate.example/tools"
        fixture.subject.resources.replace(
            by: [], foreign: [ForeignResource(identifier: resource, issuer: Self.partner, scopes: ["orders:read"])])
        let token = try token(type: type) { claims in
            claims["aud"] = .string(resource)
            adjust(&claims)
        }
        return try await fixture.subject.foreignTokens.identify(token, resource: resource)
    }

    private func expectTypeMismatch(_ identify: () async throws -> Principal) async {
        let fault = await #expect(throws: TokenFault.self) { try await identify() }
        #expect(fault?.code == .invalidToken && fault?.reason == "type_mismatch")
    }

    @Test("A remembered token is verified again after a while, and not accepted past its end")
    func freshness() async throws {
        let token = try token { $0["exp"] = .integer(fixture.clock.now / 1_000 + 86_400) }
        let tokens = fixture.subject.foreignTokens
        let principal = try await identify(token)
        let end = try #require(principal.foreign).trustedUntil
        #expect(end - fixture.clock.now == ForeignTokens.freshness)
        #expect(tokens.known(token, now: end - 1) != nil && tokens.known(token, now: end) == nil)
        fixture.clock.advance(by: ForeignTokens.freshness)
        #expect(try await identify(token) !== principal)
        fixture.clock.advance(by: 86_400_000)
        let fault = await #expect(throws: TokenFault.self) { try await identify(token) }
        #expect(fault?.code == .tokenExpired)
    }

    @Test("Disabling the user ends it at once, whatever its iat; enabling lets it in again")
    func disabled() async throws {
        let token = try token()
        let principal = try await identify(token)
        #expect(try await fixture.subject.accounts.disable(userID: principal.subject))
        #expect(fixture.subject.foreignTokens.known(token, now: fixture.clock.now) == nil)
        #expect(fixture.subject.isRevoked(principal))
        await #expect(throws: TokenFault.invalid("")) { try await identify(token) }
        #expect(try await fixture.subject.accounts.enable(userID: principal.subject))
        #expect(try await identify(token).subject == principal.subject)
    }

    @Test("A gateway does not accept itself as another, nor an issuer of several tenants")
    func configuration() async throws {
        for (issuer, tenants) in [("https://gate.example", ["a"]), (Self.partner, ["a", "b"]), (Self.partner, [])] {
            let wrong = TrustedIssuer(
                issuer: issuer, keys: .url("https://idp.example/jwks"), audiences: ["gate"], tenants: tenants,
                atGate: true)
            await #expect(throws: GuardError(.issuer, "")) { try await Fixture(issuers: [wrong]) }
        }
    }

    @Test("A client of the same name at another issuer is another client")
    func clients() async throws {
        let document = "https://agent.example/client.json"
        let both = "https://gate.example/both"
        let theirs = "https://gate.example/theirs"
        fixture.subject.resources.replace(
            by: [both],
            foreign: [both, theirs].map { identifier in
                ForeignResource(identifier: identifier, issuer: Self.partner, scopes: ["orders:read"])
            })
        func principal(_ client: String, for resource: String) async throws -> Principal {
            let token = try token { claims in
                claims["aud"] = [.string(resource)]
                claims["client_id"] = .string(client)
            }
            return try await fixture.subject.foreignTokens.identify(token, resource: resource)
        }
        // The gateway could have a client of this name for the one resource, and has none for the other.
        #expect(try await principal(document, for: both).clientID == firstPartyClientID)
        #expect(try await principal(document, for: theirs).clientID == document)
        #expect(try await principal("agent-7", for: both).clientID == "agent-7")
        for (client, resource) in [(document, both), (document, theirs), ("agent-7", both), ("pat", both)] {
            let qualified = try await principal(client, for: resource).qualifiedClientID
            #expect(qualified == "\(Self.partner) \(client)")
        }
        #expect(try await identify(token()).clientID == firstPartyClientID)
    }
}
