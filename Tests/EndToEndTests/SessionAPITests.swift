import BasicsForTests
import Foundation
import GatewayForTests
import Testing

/// Sessions over HTTP: every row of the session API, as a client meets it.
@Suite(.blocking) struct SessionAPITests {
    private static let unlimited = "limits:\n  enabled: false\n"

    @Test("An anonymous session is handed out once, found by its secret, and made anew only when asked")
    func anonymous() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [])
        defer { gateway.stop() }
        let made = try gateway.request("POST", "/api/session/create-anonymous", json: ["metadata": ["a": 1]])
        let members = [
            "session_id", "state", "tenant_id", "user_id", "created_at", "expires_at", "last_seen_at", "metadata",
            "session_secret",
        ]
        #expect(Set(made.json.keys) == Set(members))
        #expect(made.json["state"] as? String == "anonymous" && made.json["user_id"] is NSNull)
        #expect(made["cache-control"] == "no-store")
        let held = HeldSession(made.json)

        let again = try gateway.request("POST", "/api/session/create-anonymous", headers: [held.field])
        #expect(HeldSession(again.json).id == held.id && again.json["session_secret"] == nil)
        let fresh = try gateway.request(
            "POST", "/api/session/create-anonymous", headers: [held.field], json: ["fresh": true])
        #expect(HeldSession(fresh.json).id != held.id && HeldSession(fresh.json).secret.hasPrefix("sec_"))

        #expect(try gateway.current(held.secret).json["session_id"] as? String == held.id)
        #expect(try gateway.session(held.id, held.field).json["session_secret"] == nil)
        expectRefused(try gateway.session(held.id), 401, "credentials_missing")
        expectRefused(try gateway.request("GET", "/api/session/current"), 401, "credentials_missing")
    }

    @Test("An upgrade sets the owner once, merges metadata, rotates the secret, and may be repeated by its owner")
    func upgrade() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada, .bob])
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let held = try gateway.anonymous(["metadata": ["a": 1, "b": 2]])

        let answer = try gateway.upgrade(held, ada.token, ["metadata": ["b": NSNull(), "c": "x"]])
        let upgraded = HeldSession(answer.json)
        #expect(upgraded.id == held.id && upgraded.secret != held.secret)
        #expect(answer.text.contains(#""metadata":{"a":1,"c":"x"}"#))
        #expect(answer.json["user_id"] as? String == ada.userID && answer.json["tenant_id"] as? String == "acme")
        expectRefused(try gateway.session(held.id, held.field), 403, "session_mismatch")

        let repeated = HeldSession(try gateway.upgrade(held, ada.token).json)
        expectStatus(try gateway.current(repeated.secret), 200, "the owner may repeat it with the secret before")
        expectRefused(try gateway.upgrade(repeated, bob.token), 409, "session_conflict")
        expectRefused(try gateway.current(upgraded.secret), 403, "session_mismatch")

        expectRefused(try gateway.upgrade(repeated, ada.token, ["user_id": bob.userID]), 403, "identity_mismatch")
        expectRefused(try gateway.upgrade(repeated, ada.token, ["tenant_id": "other"]), 403, "identity_mismatch")
        expectRefused(try gateway.upgrade(repeated, ada.token, ["role": "admin"]), 400, "unknown_member")
        expectRefused(try gateway.upgrade(repeated, ada.token, ["access_token": ada.token]), 400, "invalid_request")
        let path = "/api/session/\(held.id)/upgrade"
        expectRefused(try gateway.request("PATCH", path, headers: [ada.bearer]), 401, "credentials_missing")
        expectRefused(try gateway.request("PATCH", path, headers: [repeated.field]), 401, "credentials_missing")
        let inBody = try gateway.request(
            "PATCH", path, headers: [repeated.field],
            json: ["access_token": ada.token, "user_id": ada.userID, "tenant_id": "acme"])
        expectStatus(inBody, 200, "the token may come in the body")
    }

    @Test("The plural path answers as the singular one, on every row", arguments: ["session", "sessions"])
    func plural(word: String) async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada])
        defer { gateway.stop() }
        let base = "/api/\(word)"
        let ada = try gateway.login(.ada)
        let held = HeldSession(try gateway.request("POST", "\(base)/create-anonymous").json)
        expectStatus(try gateway.request("GET", "\(base)/current", headers: [held.field]), 200)
        expectStatus(try gateway.request("GET", "\(base)/\(held.id)", headers: [held.field]), 200)
        let answer = try gateway.request(
            "PATCH", "\(base)/\(held.id)/upgrade", headers: [held.field, ada.bearer], json: [String: String]())
        let mine = HeldSession(answer.json)
        expectStatus(answer, 200)
        let ticket = try gateway.request("POST", "\(base)/\(held.id)/ticket", headers: [ada.bearer])
        #expect((ticket.json["ticket"] as? String)?.hasPrefix("tkt_") == true)
        #expect(ticket.json["expires_in"] as? Int == 30)
        expectStatus(try gateway.request("POST", "\(base)/create", headers: [ada.bearer]), 200)
        let list = try gateway.request("GET", base, headers: [ada.bearer])
        #expect((list.json["sessions"] as? [Any])?.count == 3)
        expectStatus(try gateway.request("DELETE", "\(base)/\(held.id)", headers: [mine.field]), 204)
        expectRefused(try gateway.request("GET", "\(base)/\(held.id)", headers: [ada.bearer]), 410, "session_ended")
        expectRefused(try gateway.request("GET", base), 401, "credentials_missing")
        expectRefused(try gateway.request("GET", "\(base)/"), 404, "not_found")
    }

    @Test("The list holds the caller's live sessions only, newest first")
    func list() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada, .bob])
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let ended = HeldSession(try gateway.request("POST", "/api/session/create", headers: [ada.bearer]).json)
        let kept = HeldSession(try gateway.request("POST", "/api/session/create", headers: [ada.bearer]).json)
        expectStatus(try gateway.request("DELETE", "/api/session/\(ended.id)", headers: [ada.bearer]), 204)
        let answer = try gateway.request("GET", "/api/session", headers: [ada.bearer])
        let listed = (answer.json["sessions"] as? [[String: Any]] ?? []).compactMap { $0["session_id"] as? String }
        #expect(listed == [kept.id, ada.sessionID])
        #expect(!answer.text.contains("session_secret") && !answer.text.contains(bob.sessionID))
        expectRefused(
            try gateway.request("GET", "/api/session", headers: [kept.field]), 401, "credentials_missing",
            "a secret lists nothing")
    }

    @Test("Metadata is one object of at most 1 KiB, also after a merge")
    func metadata() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada])
        defer { gateway.stop() }
        let path = "/api/session/create-anonymous"
        let wrong: [Any] = ["text", [1], 1, NSNull(), ["a": String(repeating: "b", count: 1100)]]
        for value in wrong {
            expectRefused(try gateway.request("POST", path, json: ["metadata": value]), 400, "invalid_request")
        }
        let held = try gateway.anonymous(["metadata": ["a": String(repeating: "b", count: 600)]])
        let ada = try gateway.login(.ada)
        let more: [String: Any] = ["b": String(repeating: "c", count: 600)]
        expectRefused(try gateway.upgrade(held, ada.token, ["metadata": more]), 400, "invalid_request")
        #expect(try gateway.current(held.secret).json["state"] as? String == "anonymous", "nothing was changed")
        let replaced = more.merging(["a": NSNull()]) { $1 }
        expectStatus(try gateway.upgrade(held, ada.token, ["metadata": replaced]), 200)
    }

    @Test("An unused session expires: 410 for its owner and its secret, and no upgrade")
    func expiry() async throws {
        let gateway = try await GatewayInProcess.start(
            Self.unlimited + "sessions:\n  anonymous_idle: 5m\n  idle: 10m\n", users: [.ada])
        defer { gateway.stop() }
        let (held, ada) = (try gateway.anonymous(), try gateway.login(.ada))
        gateway.clock.advance(by: .seconds(10 * 60 + 1))
        // The token goes with its home.
        #expect(try await eventually { try gateway.me(ada.token).code == "invalid_token" })
        expectRefused(try gateway.session(held.id, held.field), 410, "session_expired")
        expectRefused(try gateway.session(ada.sessionID, HeldSession(ada).field), 410, "session_expired")
        let again = try gateway.login(.ada)
        expectRefused(try gateway.session(ada.sessionID, again.bearer), 410, "session_expired")
        expectRefused(try gateway.upgrade(held, again.token), 403, "session_mismatch")
        let answer = try gateway.attemptLogin(.ada, headers: [held.field])
        #expect(LoggedIn(answer.json).outcome == "created" && LoggedIn(answer.json).sessionID != held.id)
    }

    @Test("Unknown paths are 404, wrong methods 405 with Allow, and HEAD tells the length of GET")
    func form() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada])
        defer { gateway.stop() }
        for path in ["/api", "/api/nothing", "/api/sessionsx", "/api/session/", "/api/session/a/b", "/api/auth"] {
            expectRefused(try gateway.request("GET", path), 404, "not_found", path)
        }
        let wrong = [("GET", "/api/auth/login", "POST"), ("DELETE", "/api/session/current", "GET, HEAD")]
        for (method, path, allowed) in wrong + [("OPTIONS", "/api/auth/login", "POST")] {
            let answer = try gateway.request(method, path)
            expectRefused(answer, 405, "method_not_allowed", path)
            #expect(answer["allow"] == allowed)
        }
        let token = try gateway.login(.ada).bearer
        for path in ["/api/auth/me", "/.well-known/jwks.json"] {
            let (head, get) = (
                try gateway.request("HEAD", path, headers: [token]), try gateway.request("GET", path, headers: [token])
            )
            #expect(head.status == 200 && head.body.isEmpty && head["content-length"] == get["content-length"])
        }
    }
}
