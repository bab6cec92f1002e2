import Encodings
import Foundation
import GatewayForTests
import Testing

/// Which tokens of a trusted issuer count, wherever they come in: an issuer signs logout tokens, proofs and others with
/// the key of its access tokens.
@Suite(.blocking) struct ForeignTokenKindsTests {
    private static let logout: JSONValue = ["http://schemas.openid.net/event/backchannel-logout": [:]]

    private struct World {
        let issuer: FakeProvider
        let upstream: RecordingUpstream
        let gateway: GatewayInProcess

        init() async throws {
            issuer = try FakeProvider()
            upstream = try .ofAgents()
            gateway = try await .start(
                ProviderSignInTests.base
                    + """
                    issuers:
                      - {issuer: "\(issuer.issuer)", discovery: true, allow_private: true, at_gate: true, audience: gate,
                         tenants: [partner]}
                    routes:
                      - {path: /plain, upstream: "\(upstream.url)", require: token}
                      - {path: /mcp, upstream: "\(upstream.url)",
                         resource: {name: Tools, scopes: [read], authorization_servers: ["\(issuer.issuer)"]}}
                    """)
        }

        func stop() {
            gateway.stop()
            upstream.stop()
            issuer.stop()
        }

        /// A token of the issuer, with a good signature.
        func token(_ type: String, audience: String = "gate", events: JSONValue? = nil) throws -> String {
            try issuer.logoutToken(type: type) { claims in
                claims["sub"] = "person-1"
                claims["aud"] = .string(audience)
                claims["events"] = events
            }
        }

        /// What each place answers to such a token: status and code, in the order of ``places``.
        func answers(_ type: String, events: JSONValue? = nil, forged: Bool = false) throws -> [String] {
            func made(_ audience: String = "gate") throws -> String {
                let token = try token(type, audience: audience, events: events)
                return forged ? Self.altered(token) : token
            }
            func bearer(_ token: String) -> [(String, String)] { [("Authorization", "Bearer \(token)")] }
            let answers = [
                try gateway.form(
                    "/oauth2/token",
                    [
                        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
                        ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"), ("subject_token", try made()),
                    ]),
                try gateway.request("POST", "/api/auth/login", json: ["subject_token": try made()]),
                try gateway.request("GET", "/plain", headers: bearer(try made())),
                try gateway.request("GET", "/mcp", headers: bearer(try made(gateway.origin + "/mcp"))),
            ]
            return answers.map { answer in
                "\(answer.status) " + (answer.code ?? answer.json["error"] as? String ?? "")
            }
        }

        /// The token with the first character of its signature changed.
        private static func altered(_ token: String) -> String {
            var parts = token.split(separator: ".").map(String.init)
            let signature = parts.removeLast()
            return (parts + [(signature.first == "A" ? "B" : "A") + signature.dropFirst()]).joined(separator: ".")
        }
    }

    @Test("Plain JWTs and access tokens are taken at every place; others and security events as if they were forged")
    func everywhere() async throws {
        let world = try await World()
        defer { world.stop() }
        let forged = try world.answers("at+jwt", forged: true)
        #expect(forged == ["400 invalid_grant", "401 invalid_credentials", "401 invalid_token", "401 invalid_token"])
        for type in ["JWT", "at+jwt", "application/at+jwt"] {
            #expect(try world.answers(type) == ["200 ", "200 ", "200 ", "200 "], "\(type)")
            #expect(try world.answers(type, events: Self.logout) == forged, "a logout token of type \(type)")
        }
        for type in [
            "logout+jwt", "secevent+jwt", "dpop+jwt", "id_token", "client-authentication+jwt", "oauth-authz-req+jwt",
            "token-introspection+jwt", "refresh+jwt", "gatehouse-assertion+jwt", "x",
        ] {
            #expect(try world.answers(type) == forged, "\(type)")
        }
        #expect(try world.answers("logout+jwt", events: Self.logout) == forged)
        #expect(try world.answers("JWT") == ["200 ", "200 ", "200 ", "200 "])
        let token = try world.token("logout+jwt")
        let refused = try world.gateway.request("POST", "/api/auth/login", json: ["subject_token": token])
        #expect(try await ProviderSignInTests.isAudited(world.gateway, refused, "login.refused", "type_mismatch"))
    }
}
