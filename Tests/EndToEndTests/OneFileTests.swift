import BasicsForTests
import Foundation
import Testing

/// One gateway and other processes on the same SQLite file, and what of it a restart keeps.
@Suite(.blocking) struct OneFileTests {
    @Test("What a command changes in the file is obeyed by the running gateway within a second, sockets included")
    func commands() async throws {
        let gateway = try await GatewayProcess.start()
        defer { gateway.stop() }
        func command(_ arguments: [String], input: String = "") throws -> String {
            let result = try GatewayProcess.run(arguments, in: gateway.directory, input: input)
            #expect(result.status == 0, "\(result.errors)")
            return result.output
        }
        let users = [try gateway.login(.ada), try gateway.login(.bob), try gateway.login(.eve)]
        let sockets = try users.map { try AgentProbe(gateway, $0) }
        let listed = try command(["sessions", "list", "--json"])
        for user in users { #expect(listed.contains(user.sessionID)) }

        _ = try command(["sessions", "end", users[0].sessionID])
        let ended = try seconds { try sockets[0].untilClosed() }
        #expect(ended.1 == .close(4403, "session_ended") && ended.0 < .promptly)
        #expect(
            try gateway.request(
                "GET", "/api/session/\(users[0].sessionID)",
                headers: [
                    ("Session-Secret", users[0].sessionSecret)
                ]
            ).code == "session_ended")

        _ = try command(["users", "disable", TestUser.bob.email])
        let disabled = try seconds { try sockets[1].untilClosed() }
        #expect(disabled.1 == .close(4403, "session_ended") && disabled.0 < .promptly)
        #expect(
            try await eventually {
                try gateway.request("GET", "/api/auth/me", headers: [users[1].bearer]).status == 401
            })
        let refresh = ["refresh_token": users[1].refreshToken]
        #expect(try gateway.request("POST", "/api/auth/refresh", json: refresh).code == "invalid_grant")

        _ = try command(["users", "password", TestUser.eve.email, "--password-stdin"], input: "a new password")
        let changed = try seconds { try sockets[2].untilClosed() }
        #expect(changed.1 == .close(4403, "session_ended") && changed.0 < .promptly)
        #expect(throws: GatewayFailure.self) { try gateway.login(.eve) }
        let eve = TestUser(email: TestUser.eve.email, password: "a new password", tenant: "other")
        #expect(try gateway.isHealthy(gateway.login(eve).token))
    }

    @Test("Failed logins are remembered across a restart, per account and address; the account itself is not locked")
    func failuresSurvive() async throws {
        let configuration = "limits:\n  login_per_minute: 3\nerrors:\n  explain: true"
        let first = try await GatewayProcess.start(configuration, users: [.ada, .bob])
        let wrong = ["email": TestUser.ada.email, "password": "wrong horse"]
        for _ in 0..<3 { #expect(try first.request("POST", "/api/auth/login", json: wrong).status == 401) }
        #expect(try first.request("POST", "/api/auth/login", json: wrong).status == 429)
        first.kill()
        let second = try await GatewayProcess.start(configuration, users: [], directory: first.directory)
        defer { second.stop() }
        let limited = try second.request("POST", "/api/auth/login", json: wrong)
        #expect(limited.status == 429 && limited.code == "rate_limited" && limited["retry-after"] != nil)
        #expect(try second.isHealthy(second.login(.bob).token))
        // The store holds neither e-mail nor address as a counter's name.
        let file = try Data(contentsOf: first.directory.appendingPathComponent("state.sqlite"))
        #expect(!file.isEmpty && file.range(of: Data("127.0.0.1".utf8)) == nil)
    }

    @Test("The audit log tells what became of sessions and never names one in full")
    func audit() async throws {
        let place = try GatewayProcess.makeDirectory()
        let log = place.appendingPathComponent("audit.jsonl")
        let gateway = try await GatewayInProcess.start("audit:\n  file: \(log.path)", directory: place)
        let anonymous = try gateway.request("POST", "/api/session/create-anonymous").json
        let secret = try #require(anonymous["session_secret"] as? String)
        let ada = try gateway.login(.ada, headers: [("Session-Secret", secret)])
        _ = try gateway.login(.ada, headers: [("Session-Secret", ada.sessionSecret)])
        let named = try gateway.request(
            "POST", "/api/auth/login",
            json: [
                "email": TestUser.bob.email, "password": TestUser.bob.password,
                "session_id": "ses_AAAAAAAAAAAAAAAAAAAAAA",
            ])
        let bob = LoggedIn(named.json)
        #expect(named.status == 200 && bob.outcome == "created" && bob.sessionID != "ses_AAAAAAAAAAAAAAAAAAAAAA")
        #expect(try gateway.request("DELETE", "/api/session/\(bob.sessionID)", headers: [bob.bearer]).status == 204)
        gateway.stop()
        let text = try String(contentsOf: log, encoding: .utf8)
        for event in ["created", "upgraded", "resumed", "ended", "not_adopted"] {
            #expect(text.contains("\"session.\(event)\""), "\(event)")
        }
        #expect(text.contains("session_id_unknown"))
        #expect(text.contains(String(ada.sessionID.dropFirst(4).prefix(8))))
        for full in [ada.sessionID, bob.sessionID, secret, ada.sessionSecret, ada.token, ada.refreshToken] {
            #expect(!text.contains(full) && !text.contains(full.dropFirst(4)))
        }
    }

    @Test("A disk that takes no more is told clearly, harms nothing that was answered, and is used again when it does")
    func fullDisk() async throws {
        let configuration = "limits:\n  enabled: false\ntokens:\n  issuer: http://gatehouse.test"
        let gateway = try await GatewayProcess.start(configuration)
        let ada = try gateway.login(.ada)
        let socket = try AgentProbe(gateway, ada)
        func limit(_ bytes: String) throws {
            let set = try Program.run("prlimit", ["--pid", "\(gateway.processID)", "--fsize=\(bytes):unlimited"])
            #expect(set.status == 0, "\(set.errors)")
        }
        // A little more than the largest file has now.
        let sizes = try FileManager.default.contentsOfDirectory(
            at: gateway.directory, includingPropertiesForKeys: [.fileSizeKey]
        ).compactMap { try $0.resourceValues(forKeys: [.fileSizeKey]).fileSize }
        try limit("\((sizes.max() ?? 0) + 131_072)")
        var kept: [(id: String, secret: String)] = []
        var refusal: RawResponse?
        for _ in 0..<5_000 {
            let answer = try gateway.request("POST", "/api/session/create-anonymous")
            guard answer.status == 200 else {
                refusal = answer
                break
            }
            kept.append((answer.json["session_id"] as? String ?? "", answer.json["session_secret"] as? String ?? ""))
        }
        #expect(refusal?.status == 503 && refusal?.code == "store_unavailable")
        #expect(!kept.isEmpty)
        // What needs no write goes on.
        #expect(try gateway.isHealthy(ada.token))
        #expect(try gateway.request("GET", "/api/session/\(ada.sessionID)", headers: [ada.bearer]).status == 200)
        try limit("unlimited")
        #expect(
            try await eventually {
                try gateway.request("POST", "/api/session/create-anonymous").status == 200
            })
        #expect(try socket.run("echo", id: "after").contains("\"result\""))
        gateway.kill()
        let again = try await GatewayProcess.start(configuration, users: [], directory: gateway.directory)
        defer { again.stop() }
        for (id, secret) in kept {
            #expect(try again.request("GET", "/api/session/\(id)", headers: [("Session-Secret", secret)]).status == 200)
        }
        #expect(try again.isHealthy(ada.token))
    }
}
