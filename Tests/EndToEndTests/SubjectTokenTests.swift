import Encodings
import Foundation
import GatewayForTests
import JOSE
import Testing

/// `POST /api/auth/login` with a token of another issuer instead of a password.
@Suite(.blocking) struct SubjectTokenTests {
    private static func login(
        _ gateway: any GatewayUnderTest, _ token: String, _ also: [String: Any] = [:], headers: [(String, String)] = []
    ) throws -> RawResponse {
        let body: [String: Any] = ["subject_token": token]
        return try gateway.request(
            "POST", "/api/auth/login", headers: headers, json: body.merging(also) { $1 })
    }

    @Test("An ID token of a provider that takes tokens signs in on the same session, as often as it is good")
    func provider() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await ProviderSignInTests.start(provider, "accept_tokens: true")
        defer { gateway.stop() }
        let token = try provider.idToken()
        let anonymous = try gateway.anonymous()
        let first = try Self.login(gateway, token, headers: [anonymous.field])
        #expect(first.status == 200 && first.json["session"] as? String == "upgraded", "\(first.text)")
        let signedIn = LoggedIn(first.json)
        #expect(signedIn.sessionID == anonymous.id && !signedIn.refreshToken.isEmpty)
        let again = try Self.login(gateway, token, ["provider": "idp", "tenant_id": "acme"])
        #expect(LoggedIn(again.json).userID == signedIn.userID && again.json["session"] as? String == "created")
        let socket = try AgentProbe(gateway, signedIn)
        #expect(try gateway.refresh(signedIn.refreshToken).status == 200)
        // It is the session of the provider that its logout token names.
        expectStatus(
            try gateway.form("/api/auth/backchannel/idp", [("logout_token", try provider.logoutToken())]), 200)
        #expect(try socket.untilClosed() == .close(4403, "session_ended"))
    }

    @Test("What is not acceptable is 401 invalid_credentials, with the reason in the log alone")
    func refused() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await ProviderSignInTests.start(
            provider, "accept_tokens: true\n    allowed: {groups: [staff]}")
        defer { gateway.stop() }
        let good = try provider.idToken()
        let foreign = try SigningKey.generate(.es256)
        expectStatus(try Self.login(gateway, good), 200)
        let access = LoggedIn(try Self.login(gateway, good).json).token
        for (text, also, reason) in [
            (try provider.idToken { $0["aud"] = "another-client" }, [:], "audience_mismatch"),
            (
                try provider.idToken { claims in
                    claims["iat"] = 1_700_000_000
                    claims["exp"] = 1_700_000_300
                }, [:], "expired"
            ),
            (try provider.idToken { $0["groups"] = [] }, [:], "group_not_allowed"),
            (try provider.idToken { $0["iss"] = "https://evil.example" }, [:], "issuer_unknown"),
            (try provider.logoutToken(signedBy: foreign), [:], "key_unknown"),
            (good, ["tenant_id": "other"], "tenant_foreign"),
            (good, ["provider": "nobody"], "provider_takes_no_tokens"),
            (access, [:], "issuer_unknown"), ("a.b.c", [:], "malformed"),
        ] as [(String, [String: Any], String)] {
            let answer = try Self.login(gateway, text, also)
            expectRefused(answer, 401, "invalid_credentials", reason)
            #expect(answer.json["detail"] as? String == "The subject token was not accepted.", "\(reason)")
            #expect(try await ProviderSignInTests.isAudited(gateway, answer, "login.refused", reason), "\(reason)")
        }
        let both = try Self.login(gateway, good, ["email": "a@b.c", "password": "x"])
        expectRefused(both, 400, "invalid_request")
        expectRefused(
            try Self.login(gateway, "ses_AAAAAAAAAAAAAAAAAAAAAA"), 400, "credentials_swapped")
        #expect(!ProviderSignInTests.audit(gateway).contains(good))
    }

    @Test("A second gateway is a trusted issuer: its access tokens sign in here, also where passwords are off")
    func secondGateway() async throws {
        let other = try await GatewayInProcess.start(users: [.ada])
        defer { other.stop() }
        let keys = try other.request("GET", "/.well-known/jwks.json").text
        let folder = try GatewayProcess.makeDirectory()
        let file = folder.appendingPathComponent("jwks.json").path
        try keys.write(toFile: file, atomically: true, encoding: .utf8)
        let yaml = """
            accounts: {passwords: false}
            issuers:
              - {issuer: \(other.origin), jwks: \(file), audience: gatehouse, tenants: [acme]}
            """
        let gateway = try await GatewayInProcess.start(ProviderSignInTests.base + yaml, users: [], directory: folder)
        defer { gateway.stop() }
        let token = try other.login(.ada).token
        let answer = try Self.login(gateway, token)
        #expect(answer.status == 200 && answer.json["tenant_id"] as? String == "acme", "\(answer.text)")
        let signedIn = LoggedIn(answer.json)
        #expect(LoggedIn(try Self.login(gateway, token).json).userID == signedIn.userID)
        _ = try AgentProbe(gateway, signedIn)
        expectRefused(try Self.login(gateway, token, ["tenant_id": "other"]), 401, "invalid_credentials")
        expectRefused(try gateway.attemptLogin(.ada), 404, "not_found")
        other.clock.advance(by: .seconds(-3600))
        gateway.clock.advance(by: .seconds(3600))
        expectRefused(try Self.login(gateway, token), 401, "invalid_credentials")
    }
}
