import Encodings
import Foundation
import GatewayForTests
import JOSE
import PostgresForTests
import Testing

/// OpenID Connect back-channel logout: what a provider ends, on every node.
@Suite(.blocking) struct BackchannelLogoutTests {
    /// An ID token of some seconds later.
    private static let later: @Sendable (inout JSONObject) -> Void = { claims in
        claims["iat"] = (claims["iat"]?.int64Value).map { .integer($0 + 5) }
    }

    private static func post(
        _ gateway: any GatewayUnderTest, _ token: String, to name: String = "idp"
    ) throws -> RawResponse {
        try gateway.form("/api/auth/backchannel/\(name)", [("logout_token", token)])
    }

    @Test("The sessions of that sid end, with their tokens and sockets, and others stay")
    func session() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await ProviderSignInTests.start(provider)
        defer { gateway.stop() }
        var (one, other) = (BrowserProbe(gateway), BrowserProbe(gateway))
        _ = try one.signIn(provider)
        provider.change { $0.claims["sid"] = "idp-session-2" }
        _ = try other.signIn(provider)
        let (ended, kept) = (try one.tokens(), try other.tokens())
        let (closed, open) = (try AgentProbe(gateway, ended), try AgentProbe(gateway, kept))
        let token = try provider.logoutToken()
        let answer = try Self.post(gateway, token)
        #expect(answer.status == 200 && answer["cache-control"] == "no-store" && answer.body.isEmpty, "\(answer.text)")
        #expect(try closed.untilClosed() == .close(4403, "session_ended"))
        expectRefused(try gateway.me(ended.token), 401, "invalid_token")
        #expect(try one.fetch("POST", "/api/auth/refresh").status == 401)
        #expect(try gateway.isHealthy(kept.token))
        // The provider lets the person in again at once, in the same session of its own: that is a new sign-in.
        provider.change { $0.claims["sid"] = "idp-session-1" }
        var again = BrowserProbe(gateway)
        #expect(try again.signIn(provider)["location"] == "/")
        let fresh = try again.tokens()
        // The same token again is refused, and does not end what began since.
        let replay = try Self.post(gateway, token)
        #expect(replay.status == 400 && replay.json["error"] as? String == "invalid_request")
        #expect(replay["cache-control"] == "no-store")
        #expect(try gateway.isHealthy(fresh.token))
        #expect(try open.run("echo", id: "c1").contains("\"result\""))
        #expect(try await ProviderSignInTests.isAudited(gateway, replay, "replayed"))
        // A new one does.
        expectStatus(try Self.post(gateway, try provider.logoutToken()), 200)
        expectRefused(try gateway.me(fresh.token), 401, "invalid_token")
        #expect(try gateway.isHealthy(kept.token))
    }

    @Test("A sign-in that had begun before a logout is refused, as is an ID token that names the session")
    func begunBefore() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await ProviderSignInTests.start(provider, "accept_tokens: true")
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        let there = try browser.navigate("/api/auth/login/idp")
        let back = try provider.authorize(try #require(there["location"]))
        expectStatus(try Self.post(gateway, try provider.logoutToken()), 200)
        provider.change { $0.editClaims = Self.later }
        #expect(try browser.navigate(back, from: "cross-site")["location"] == "/?login_error=login_refused")
        let handedIn = try gateway.request("POST", "/api/auth/login", json: ["subject_token": try provider.idToken()])
        expectRefused(handedIn, 401, "invalid_credentials")
        // The state was used up; the person begins again in the same browser.
        #expect(try browser.navigate(back, from: "cross-site").status == 400)
        #expect(try browser.signIn(provider)["location"] == "/")
    }

    @Test("Without a sid, everything that the provider began for that person ends, and a password's session stays")
    func person() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await ProviderSignInTests.start(provider, "link_verified_email: true", users: [.ada])
        defer { gateway.stop() }
        provider.change { $0.claims["email"] = .string(TestUser.ada.email) }
        var browser = BrowserProbe(gateway)
        _ = try browser.signIn(provider)
        let (here, password) = (try browser.tokens(), try gateway.login(.ada))
        #expect(here.userID == password.userID)
        let token = try provider.logoutToken { claims in
            claims["sid"] = nil
            claims["sub"] = "person-1"
        }
        expectStatus(try Self.post(gateway, token), 200)
        expectRefused(try gateway.me(here.token), 401, "invalid_token")
        #expect(try gateway.isHealthy(password.token))
        // They sign in again at once, and the token that ended the first sign-in does not end this one.
        #expect(try browser.signIn(provider)["location"] == "/")
        let again = try browser.tokens()
        expectStatus(try Self.post(gateway, token), 400)
        #expect(try gateway.isHealthy(again.token))
    }

    @Test(
        "Everything else is 400 and ends nothing",
        arguments: [
            "id token", "other key", "nonce", "no event", "other audience", "expired", "no target", "garbage", "empty",
            "twice", "json", "huge",
        ])
    func refused(kind: String) async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let gateway = try await ProviderSignInTests.start(provider)
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        _ = try browser.signIn(provider)
        let tokens = try browser.tokens()
        let foreign = try SigningKey.generate(.es256)
        let text =
            switch kind {
            case "id token": try provider.idToken()
            case "other key": try provider.logoutToken(signedBy: foreign)
            case "nonce": try provider.logoutToken { $0["nonce"] = "n" }
            case "no event": try provider.logoutToken { $0["events"] = [:] }
            case "other audience": try provider.logoutToken { $0["aud"] = "someone" }
            case "expired": try provider.logoutToken { $0["exp"] = 1_700_000_000 }
            case "no target": try provider.logoutToken { $0["sid"] = nil }
            case "garbage": "a.b.c"
            case "huge": String(repeating: "a", count: 66_000)
            case "empty": ""
            default: try provider.logoutToken()
            }
        let answer: RawResponse
        switch kind {
        case "twice":
            answer = try gateway.form("/api/auth/backchannel/idp", [("logout_token", text), ("logout_token", text)])
        case "json": answer = try gateway.request("POST", "/api/auth/backchannel/idp", json: ["logout_token": text])
        default: answer = try Self.post(gateway, text)
        }
        #expect(answer.status == 400 && answer["cache-control"] == "no-store", "\(answer.text)")
        // A problem, with the members that OpenID Connect names.
        #expect(answer["content-type"] == "application/problem+json")
        #expect(answer.json["code"] as? String == "invalid_request" && answer.json["status"] as? Int == 400)
        #expect(answer.json["request_id"] as? String == answer["x-request-id"])
        #expect(answer.json["error"] as? String == "invalid_request")
        #expect(answer.json["error_description"] as? String == answer.json["detail"] as? String)
        #expect(try await ProviderSignInTests.isAudited(gateway, answer, "request.refused"))
        #expect(!ProviderSignInTests.audit(gateway).contains(#""reason":"""#), "refused without a reason")
        #expect(try gateway.isHealthy(tokens.token))
        #expect(!text.isEmpty && kind != "garbage" ? !ProviderSignInTests.audit(gateway).contains(text) : true)
    }

    @Test(
        "A sign-in under way does not outlive a logout of the person at another node, and a later one begins",
        .enabled(if: PrivatePostgres.isAvailable), arguments: [false, true])
    func underWay(withSession: Bool) async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        provider.change { $0.claims["sid"] = nil }
        let nodes = try await TwoNodes<GatewayInProcess>(more: provider.yaml("accept_tokens: true"))
        defer { nodes.stop() }
        var browser = BrowserProbe(nodes.a)
        let there = try browser.navigate("/api/auth/login/idp")
        let back = try provider.authorize(try #require(there["location"]))
        let signedInAt = Int64(Date().timeIntervalSince1970)
        let early = try provider.idToken()
        // With a session of the provider's, the person's sign-ins end of which it named none.
        let token = try provider.logoutToken { claims in
            claims["sub"] = "person-1"
            claims["sid"] = withSession ? "idp-session-9" : nil
        }
        expectStatus(try Self.post(nodes.b, token), 200)
        // The provider hands out the ID token as it was when the person signed in.
        provider.change { $0.editClaims = { claims in claims["iat"] = .integer(signedInAt - 5) } }
        #expect(try browser.navigate(back, from: "cross-site")["location"] == "/?login_error=login_refused")
        for node in [nodes.a, nodes.b] {
            expectRefused(
                try node.request("POST", "/api/auth/login", json: ["subject_token": early]), 401,
                "invalid_credentials")
        }
        provider.change { $0.editClaims = { _ in } }
        #expect(try browser.signIn(provider)["location"] == "/")
        // With a new sign-in the provider may let an authentication from before count again. A token that is handed in
        // does not become newer by a new `iat`.
        provider.change { script in
            script.editClaims = { claims in
                Self.later(&claims)
                claims["auth_time"] = (claims["iat"]?.int64Value).map { .integer($0 - 60) }
            }
        }
        var again = BrowserProbe(nodes.b)
        #expect(try again.signIn(provider)["location"] == "/")
        let stale = try provider.idToken()
        expectRefused(
            try nodes.a.request("POST", "/api/auth/login", json: ["subject_token": stale]), 401, "invalid_credentials")
        // Another person is not meant.
        let other = try provider.idToken { $0["sub"] = "person-2" }
        expectStatus(try nodes.b.request("POST", "/api/auth/login", json: ["subject_token": other]), 200)
    }

    @Test(
        "Whether a logout or a sign-in came first does not depend on the clocks of the nodes",
        .enabled(if: PrivatePostgres.isAvailable))
    func clocks() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let nodes = try await TwoNodes<GatewayInProcess>(more: provider.yaml())
        defer { nodes.stop() }
        nodes.a.clock.advance(by: .seconds(20))
        // It began first, and the clock of its node is ahead.
        var early = BrowserProbe(nodes.a)
        let there = try early.navigate("/api/auth/login/idp")
        let back = try provider.authorize(try #require(there["location"]))
        expectStatus(try Self.post(nodes.b, try provider.logoutToken()), 200)
        #expect(try early.navigate(back, from: "cross-site")["location"] == "/?login_error=login_refused")
        // It began last, and the clock of the node that was told is ahead.
        expectStatus(try Self.post(nodes.a, try provider.logoutToken()), 200)
        var late = BrowserProbe(nodes.b)
        #expect(try late.signIn(provider)["location"] == "/")
    }

    @Test(
        "Any node finishes a sign-in, and a logout at one ends sockets at the other",
        .enabled(if: PrivatePostgres.isAvailable))
    func nodes() async throws {
        let provider = try FakeProvider()
        defer { provider.stop() }
        let nodes = try await TwoNodes<GatewayInProcess>(more: provider.yaml())
        defer { nodes.stop() }
        var browser = BrowserProbe(nodes.a)
        let there = try browser.navigate("/api/auth/login/idp")
        var atOther = browser.at(nodes.b)
        let back = try atOther.navigate(try provider.authorize(try #require(there["location"])), from: "cross-site")
        #expect(back.status == 303 && back["location"] == "/", "\(back.text)")
        let tokens = try atOther.tokens()
        let socket = try AgentProbe(nodes.b, tokens)
        let token = try provider.logoutToken()
        expectStatus(try Self.post(nodes.a, token), 200)
        #expect(try socket.untilClosed() == .close(4403, "session_ended"))
        #expect(try Self.post(nodes.b, token).status == 400)
    }
}
