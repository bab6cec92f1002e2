import BasicsForTests
import Encodings
import Foundation
import GatewayForTests
import PostgresForTests
import Synchronization
import Testing

/// Webhooks: what receivers get, when, how often, and from whom.
@Suite(.blocking) struct WebhookTests {
    static let allEvents = "session.upgraded, session.ended, login.failed, token.reuse, account.disabled"

    static func configuration(_ url: String, events: String = allEvents, more: String = "") -> String {
        "events: [{url: '\(url)', events: [\(events)], allow_private: true}]\nlimits: {enabled: false}\n\(more)\n"
    }

    @Test("Every event arrives once, signed, and is read by the code of the documentation")
    func story() async throws {
        let receiver = try RecordingUpstream()
        defer { receiver.stop() }
        let url = receiver.url + "/hooks?key=of-the-receiver"
        let gateway = try await GatewayInProcess.start(
            Self.configuration(url, more: "audit: {file: audit.jsonl}"), users: [.ada, .bob])
        defer { gateway.stop() }
        let anonymous = try gateway.anonymous()
        let first = LoggedIn(try gateway.attemptLogin(.ada, headers: [anonymous.field]).json)
        let wrong = TestUser(email: TestUser.ada.email, password: "wrong", tenant: "acme")
        expectStatus(try gateway.attemptLogin(wrong), 401)
        expectStatus(try gateway.request("POST", "/api/auth/logout", headers: [first.bearer]), 204)
        let second = try gateway.login(.ada)
        let next = LoggedIn(try gateway.refresh(second.refreshToken).json)
        expectStatus(try gateway.refresh(next.refreshToken), 200)
        expectRefused(try gateway.refresh(second.refreshToken), 401, "invalid_grant")
        let bob = try gateway.login(.bob)
        let disabled = try GatewayProcess.run(
            ["users", "disable", TestUser.bob.email, "--config", "gatehouse.yaml"], in: gateway.directory)
        #expect(disabled.status == 0, "\(disabled)")

        // Three sign-ins, a failed one, a logout, a reuse and its session, an account and its session.
        #expect(try await eventually { Self.ids(receiver).count >= 9 })
        // An attempt that a busy machine does not answer in time is made again.
        #expect(receiver.requests.count <= 9 + Self.failures(gateway), "each is sent once")
        let events = try Self.events(of: receiver, issuer: gateway.origin, url: url)
        let kinds = events.map(\.kind)
        #expect(
            kinds.sorted()
                == [
                    "account.disabled", "login.failed", "session.ended", "session.ended", "session.ended",
                    "session.upgraded", "session.upgraded", "session.upgraded", "token.reuse",
                ])
        #expect(Set(events.map(\.id)).count == events.count)
        // Events of different sessions may come in any order.
        let session = String(anonymous.id.prefix(12))
        let upgraded = try #require(
            events.first { $0.kind == "session.upgraded" && $0.detail["session"] as? String == session })
        #expect(upgraded.detail["method"] as? String == "password")
        #expect(upgraded.claims["tenant_id"] as? String == "acme" && upgraded.user == first.userID)
        #expect(upgraded.claims["txn"] is String && upgraded.claims["sub"] == nil && upgraded.claims["exp"] == nil)
        let failed = try #require(events.first { $0.kind == "login.failed" })
        #expect(failed.detail["reason"] as? String == "password_wrong")
        #expect(events.first { $0.kind == "account.disabled" }?.user == bob.userID)
        let ended = events.filter { $0.kind == "session.ended" }.compactMap { $0.detail["session"] as? String }
        #expect(Set(ended) == Set([first, second, bob].map { String($0.sessionID.prefix(12)) }))

        for request in receiver.requests {
            #expect(request.method == "POST" && request.target == "/hooks?key=of-the-receiver")
            #expect(request["content-type"] == "application/secevent+jwt" && request["authorization"] == nil)
        }
        let seen = receiver.requests.map { $0.text + String(decoding: $0.body, as: UTF8.self) }.joined() + gateway.log
        for secret in [first, second, next, bob].flatMap({ [$0.token, $0.refreshToken, $0.sessionSecret] })
        where !secret.isEmpty {
            #expect(!seen.contains(secret))
        }
        #expect(!gateway.log.contains("of-the-receiver"), "the path and query of a receiver are not logged")
        // An event is good for its receiver alone, and unchanged.
        let body = String(decoding: try #require(receiver.requests.first).body, as: UTF8.self)
        #expect(try Self.read([body], issuer: gateway.origin, url: receiver.url) == ["refused: InvalidAudienceError"])
        let altered = body.dropLast(8) + "AAAAAAAA"
        #expect(
            try Self.read([String(altered)], issuer: gateway.origin, url: url) == ["refused: InvalidSignatureError"])
    }

    @Test("A sign-in that fails is told with its method, whichever it was")
    func methods() async throws {
        let receiver = try RecordingUpstream()
        defer { receiver.stop() }
        let provider = try FakeProvider()
        defer { provider.stop() }
        let more = provider.yaml("accept_tokens: true\n    allowed: {groups: [admins]}")
        let gateway = try await GatewayInProcess.start(
            Self.configuration(receiver.url, events: "login.failed", more: more), users: [.ada])
        defer { gateway.stop() }
        var browser = BrowserProbe(gateway)
        #expect(try browser.signIn(provider)["location"] == "/?login_error=login_refused")
        provider.change { $0.editClaims = { $0["nonce"] = "another" } }
        #expect(try browser.signIn(provider)["location"] == "/?login_error=provider_unavailable")
        for token in [try provider.idToken { $0["aud"] = "another" }, "a.b.c"] {
            let answer = try gateway.request("POST", "/api/auth/login", json: ["subject_token": token])
            expectRefused(answer, 401, "invalid_credentials")
        }
        let passkey = try gateway.request(
            "POST", "/api/auth/passkey/login/finish", headers: [try gateway.anonymous().field], json: ["id": "AAAA"])
        expectRefused(passkey, 401, "invalid_credentials")
        let wrong = TestUser(email: TestUser.ada.email, password: "wrong", tenant: "acme")
        expectStatus(try gateway.attemptLogin(wrong), 401)

        #expect(try await eventually { Self.ids(receiver).count >= 6 })
        let events = try Self.events(of: receiver, issuer: gateway.origin, url: receiver.url)
        #expect(events.allSatisfy { $0.kind == "login.failed" && $0.claims["txn"] is String })
        let told = events.map { "\($0.detail["method"] as? String ?? "") \($0.detail["reason"] as? String ?? "")" }
        #expect(
            told.sorted() == [
                "idp audience_mismatch", "idp claim_invalid", "idp group_not_allowed", "issuer malformed",
                "passkey response_malformed", "password password_wrong",
            ])
    }

    @Test("What an operator ends is told with the reason, by every command, in the order of the session")
    func operators() async throws {
        let receiver = try RecordingUpstream()
        defer { receiver.stop() }
        let gateway = try await GatewayInProcess.start(
            Self.configuration(receiver.url, events: "session.ended, account.disabled"), users: [.ada, .bob])
        defer { gateway.stop() }
        func command(_ arguments: [String], input: String = "") throws -> String {
            let result = try GatewayProcess.run(
                arguments + ["--config", "gatehouse.yaml"], in: gateway.directory, input: input)
            #expect(result.status == 0, "\(result)")
            return result.output
        }
        let one = try gateway.login(.ada)
        _ = try command(["sessions", "end", one.sessionID])
        let two = try gateway.login(.ada)
        _ = try command(
            ["users", "password", TestUser.ada.email, "--password-stdin"], input: "another horse battery staple")
        let made = try command(["clients", "add", "ci", "--tenant", "acme", "--json"])
        let client = try #require(try JSONSerialization.jsonObject(with: Data(made.utf8)) as? [String: String])
        let (id, secret) = (try #require(client["client_id"]), try #require(client["client_secret"]))
        let token =
            try gateway.form(
                "/oauth2/token",
                [("grant_type", "client_credentials"), ("client_id", id), ("client_secret", secret)]
            ).json["access_token"] as? String
        let session = try gateway.request(
            "POST", "/api/session/create", headers: [("Authorization", "Bearer " + (token ?? ""))], json: [:])
        let three = try #require(session.json["session_id"] as? String, "\(session.text)")
        _ = try command(["clients", "disable", id])
        let four = try gateway.login(.bob)
        _ = try command(["users", "disable", TestUser.bob.email])

        #expect(try await eventually { Self.ids(receiver).count >= 5 })
        let events = try Self.events(of: receiver, issuer: gateway.origin, url: receiver.url)
        let told = events.map { event in
            [event.kind, event.user, event.detail["session"] as? String, event.detail["reason"] as? String]
                .compactMap(\.self).joined(separator: " ")
        }
        let wanted = [
            (one.userID, one.sessionID, "ended_by_operator"), (two.userID, two.sessionID, "password_changed"),
            (id, three, "client_disabled"), (four.userID, four.sessionID, "account_disabled"),
        ].map { "session.ended \($0.0) \($0.1.prefix(12)) \($0.2)" }
        #expect(Set(told) == Set(wanted + ["account.disabled \(four.userID)"]) && told.count == 5, "\(told)")
    }

    @Test("A session that the operator's API ends is reported as ended by an operator, with its guest")
    func endedThroughAdminAPI() async throws {
        let receiver = try RecordingUpstream()
        defer { receiver.stop() }
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin(
            Self.configuration(receiver.url, events: "session.ended"))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let made = try gateway.request("POST", "/api/session/create", headers: [ada.bearer], json: [:])
        let guest = try #require(made.json["session_id"] as? String, "\(made.text)")
        #expect(try admin.request("DELETE", "/api/admin/sessions/\(ada.sessionID)").status == 204)
        #expect(try await eventually { Self.ids(receiver).count >= 2 })
        let told = try Self.events(of: receiver, issuer: gateway.origin, url: receiver.url).map { event in
            [event.user, event.detail["session"] as? String, event.detail["reason"] as? String]
        }
        let wanted = [ada.sessionID, guest].map { [ada.userID, String($0.prefix(12)), "ended_by_operator"] }
        #expect(Set(told) == Set(wanted) && told.count == 2, "\(told)")
    }

    // MARK: Reading

    struct Event {
        let claims: [String: Any]
        let kind: String
        let detail: [String: Any]

        var id: String { claims["jti"] as? String ?? "" }
        var user: String? { (claims["sub_id"] as? [String: Any])?["sub"] as? String }
    }

    /// The ids of the events that a receiver got.
    static func ids(_ receiver: RecordingUpstream) -> Set<String> {
        Set(receiver.requests.map { $0["event-id"] ?? "" })
    }

    /// The events that a receiver got, each once, verified by the code of the documentation.
    static func events(of receiver: RecordingUpstream, issuer: String, url: String) throws -> [Event] {
        var known: Set<String> = []
        let requests = receiver.requests.filter { known.insert($0["event-id"] ?? "").inserted }
        let lines = try read(requests.map { String(decoding: $0.body, as: UTF8.self) }, issuer: issuer, url: url)
        return try zip(requests, lines).map { request, line in
            let claims = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
            let events = try #require(claims["events"] as? [String: Any])
            let name = try #require(events.keys.first)
            #expect(events.count == 1 && name.hasPrefix(issuer + "/events/"))
            #expect(claims["jti"] as? String == request["event-id"])
            return Event(
                claims: claims, kind: String(name.dropFirst(issuer.count + "/events/".count)),
                detail: events[name] as? [String: Any] ?? [:])
        }
    }

    /// What the code of the documentation says about tokens, a line each.
    private static func read(_ tokens: [String], issuer: String, url: String) throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("events-\(UUID().uuidString)")
        try tokens.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let result = try Program.run(
            "sh",
            [
                "-c", "exec python3 \"$0\" \"$1\" \"$2\" \"$3\" < \"$4\"", Program.script("webhook_example.py"),
                "docs/webhooks.md", issuer, url, file.path,
            ], in: GatewayProcess.packageRoot)
        try #require(result.status == 0, "\(result.errors)")
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
