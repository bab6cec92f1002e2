import BasicsForTests
import Foundation
import GatewayForTests
import PostgresForTests
import Testing

/// Two gateways on one PostgreSQL: what is done at one holds at the other.
@Suite(.enabled(if: PrivatePostgres.isAvailable), .blocking) struct TwoNodeTests {
    @Test("A ticket bought at one node opens a socket at the other, once, and the store holds no token")
    func tickets() async throws {
        let nodes = try await TwoNodes<GatewayInProcess>()
        defer { nodes.stop() }
        let ada = try nodes.a.login(.ada)
        func buy() throws -> String {
            let answer = try nodes.a.request("POST", "/api/session/\(ada.sessionID)/ticket", headers: [ada.bearer])
            return try #require(answer.json["ticket"] as? String)
        }
        let ticket = try buy()
        let stored = try nodes.postgres.query(
            "SELECT convert_from(facts, 'UTF8') FROM gatehouse.tickets", database: nodes.database)
        #expect(stored.contains("usr_") && !stored.contains(ada.token.prefix(20)) && !stored.contains(ticket))
        let socket = try AgentProbe(nodes.b, query: "?ticket=\(ticket)")
        guard case .text(let ready) = try socket.next() else { return }
        #expect(ready.contains("\"ready\""))
        for node in [nodes.a, nodes.b] {
            #expect(throws: AgentProbe.Refused.self) { try AgentProbe(node, query: "?ticket=\(ticket)") }
        }
        // Of racers at both nodes one gets in.
        for _ in 0..<20 {
            let ticket = try buy()
            let opened = try await together(
                [nodes.a, nodes.b].map { node in
                    { @Sendable in (try? AgentProbe(node, query: "?ticket=\(ticket)")) != nil }
                })
            #expect(opened.filter { $0 }.count == 1)
        }
    }

    @Test("A refresh at one node keeps a socket at the other alive, which ends when its new token does")
    func refreshAcrossNodes() async throws {
        let nodes = try await TwoNodes<GatewayInProcess>(tokens: "  access_token_lifetime: 15m\n  clock_skew: 0s")
        defer { nodes.stop() }
        let ada = try nodes.a.login(.ada)
        let kept = try AgentProbe(nodes.b, ada)
        let bob = try nodes.a.login(.bob)
        let dropped = try AgentProbe(nodes.b, bob)
        func advance(_ duration: Duration) { for node in [nodes.a, nodes.b] { node.clock.advance(by: duration) } }
        advance(.seconds(10 * 60))
        #expect(try nodes.a.refresh(ada.refreshToken).status == 200)
        // What the other node hears of next, it hears after the refresh.
        let last = try nodes.a.login(.ada)
        let marker = try AgentProbe(nodes.b, last)
        #expect(try nodes.a.request("POST", "/api/auth/logout", headers: [last.bearer]).status == 204)
        #expect(try marker.untilClosed() == .close(4403, "session_ended"))
        advance(.seconds(5 * 60 + 1))
        #expect(try dropped.untilClosed() == .close(4401, "token_expired"))
        #expect(try kept.run("echo", id: "c1").contains("\"result\""))
        advance(.seconds(10 * 60))
        #expect(try kept.untilClosed() == .close(4401, "token_expired"))
    }

    @Test("Logout at one node closes the sockets at the other within a second")
    func logoutAcrossNodes() async throws {
        let nodes = try await TwoNodes<GatewayInProcess>()
        defer { nodes.stop() }
        for (first, second) in [(nodes.a, nodes.b), (nodes.b, nodes.a)] {
            var ended: [LoggedIn] = []
            let took = try shortest(below: 1) {
                let ada = try first.login(.ada)
                ended.append(ada)
                let socket = try AgentProbe(second, ada)
                let (took, end) = try seconds {
                    let answer = try first.request("POST", "/api/auth/logout", headers: [ada.bearer])
                    #expect(answer.status == 204)
                    return try socket.untilClosed()
                }
                #expect(end == .close(4403, "session_ended"))
                return took
            }
            #expect(took < 1)
            // The node hears of the end of the session and of that of its tokens one after the other.
            for ada in ended {
                #expect(try await eventually { try second.me(ada.token).status == 401 })
                #expect(try await eventually { try AgentProbe.status(second, ada)?.status == 401 })
            }
        }
        let bob = try nodes.a.login(.bob)
        #expect(try nodes.b.isHealthy(bob.token))
    }

    @Test(
        "A session that the store can't end keeps its sockets, and loses them before the end is answered",
        arguments: ["token", "secret", "delete"])
    func refusedEnd(_ way: String) async throws {
        let nodes = try await TwoNodes<GatewayInProcess>()
        defer { nodes.stop() }
        let ada = try nodes.a.login(.ada)
        let socket = try AgentProbe(nodes.a, ada)
        let bob = try AgentProbe(nodes.a, try nodes.a.login(.bob))
        // What is read goes on; what is written waits until the test ends the locks.
        let (postgres, database) = (nodes.postgres, nodes.database)
        Thread.detachNewThread {
            _ = try? postgres.query(
                "BEGIN; LOCK TABLE gatehouse.sessions, gatehouse.families IN EXCLUSIVE MODE; "
                    + "SELECT pg_sleep(60); COMMIT", database: database)
        }
        let isHeld = try await eventually {
            // Other tests hold locks of their own in other databases of the server.
            let sql =
                "SELECT COUNT(*) FROM pg_locks WHERE mode = 'ExclusiveLock' AND relation IS NOT NULL AND granted "
                + "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            let text = try postgres.query(sql, database: database)
            return text.trimmingCharacters(in: .whitespacesAndNewlines) == "2"
        }
        #expect(isHeld)
        func end() throws -> Int {
            let secret = ("Session-Secret", ada.sessionSecret)
            return switch way {
            case "token": try nodes.a.request("POST", "/api/auth/logout", headers: [ada.bearer]).status
            case "secret": try nodes.a.request("POST", "/api/auth/logout", headers: [secret]).status
            default: try nodes.a.request("DELETE", "/api/session/\(ada.sessionID)", headers: [secret]).status
            }
        }
        #expect(try end() == 503, "what is written waits too long")
        try postgres.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
                + "AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()", database: database)
        #expect(try socket.run("echo", id: "c0").contains("\"id\":\"c0\""), "it is open")
        #expect(try await eventually { try end() == 204 })
        #expect(try socket.untilClosed() == .close(4403, "session_ended"))
        #expect(try bob.run("echo", id: "c1").contains("\"result\""), "others stay")
    }

    @Test("Of two hundred upgrades raced over two nodes each has one winner, who stays the owner")
    func upgradeRace() async throws {
        let nodes = try await TwoNodes<GatewayInProcess>(more: "limits:\n  enabled: false")
        defer { nodes.stop() }
        let rivals = [try nodes.a.login(.ada), try nodes.b.login(.bob)]
        for round in 0..<200 {
            let anonymous = try nodes.a.request("POST", "/api/session/create-anonymous").json
            let id = try #require(anonymous["session_id"] as? String)
            let secret = try #require(anonymous["session_secret"] as? String)
            let answers = try await together(
                zip([nodes.a, nodes.b], rivals).map { node, rival in
                    { @Sendable in
                        try node.request(
                            "PATCH", "/api/session/\(id)/upgrade", headers: [rival.bearer, ("Session-Secret", secret)])
                    }
                })
            let winners = answers.indices.filter { answers[$0].status == 200 }
            #expect(winners.count == 1, "round \(round): \(answers.map(\.status))")
            guard let winner = winners.first else { continue }
            #expect([403, 409].contains(answers[1 - winner].status))
            let seen = try nodes.b.request("GET", "/api/session/\(id)", headers: [rivals[winner].bearer])
            #expect(seen.json["user_id"] as? String == rivals[winner].userID)
            let foreign = try nodes.a.request("GET", "/api/session/\(id)", headers: [rivals[1 - winner].bearer])
            #expect(foreign.status == 403)
        }
    }

    @Test("Of two hundred refreshes raced over two nodes each has one successor")
    func refreshRace() async throws {
        let nodes = try await TwoNodes<GatewayInProcess>(more: "limits:\n  enabled: false")
        defer { nodes.stop() }
        var token = try nodes.a.login(.ada).refreshToken
        for round in 0..<200 {
            let presented = token
            let answers = try await together(
                [nodes.a, nodes.b].map { node in
                    { @Sendable in
                        try node.request("POST", "/api/auth/refresh", json: ["refresh_token": presented])
                    }
                })
            #expect(answers.map(\.status) == [200, 200], "round \(round)")
            let successors = Set(answers.compactMap { $0.json["refresh_token"] as? String })
            #expect(successors.count == 1, "round \(round)")
            token = try #require(successors.first)
            #expect(token != presented)
        }
        // Two steps back is reuse: at either node the family is dead afterwards.
        let last = try nodes.b.request("POST", "/api/auth/refresh", json: ["refresh_token": token])
        let newest = try #require(last.json["refresh_token"] as? String)
        let next = try nodes.a.request("POST", "/api/auth/refresh", json: ["refresh_token": newest])
        #expect(next.status == 200)
        #expect(try nodes.b.request("POST", "/api/auth/refresh", json: ["refresh_token": token]).status == 401)
        let heir = try #require(next.json["refresh_token"] as? String)
        #expect(try nodes.a.request("POST", "/api/auth/refresh", json: ["refresh_token": heir]).status == 401)
    }

    @Test("What the command line ends or disables in the shared store is obeyed by every node within a second")
    func commands() async throws {
        let nodes = try await TwoNodes<GatewayInProcess>()
        defer { nodes.stop() }
        let bob = try nodes.b.login(.bob)
        let longest = try shortest(below: 1) {
            let ada = try nodes.a.login(.ada)
            let sockets = try [nodes.a, nodes.b].map { try AgentProbe($0, ada) }
            let ended = try nodes.command(["sessions", "end", ada.sessionID])
            #expect(ended.status == 0, "\(ended.errors)")
            let (took, ends) = try seconds { try sockets.map { try $0.untilClosed() } }
            for end in ends { #expect(end == .close(4403, "session_ended")) }
            return took
        }
        #expect(longest < 1)
        let others = try [nodes.a, nodes.b].map { try AgentProbe($0, bob) }
        let disabled = try nodes.command(["users", "disable", TestUser.bob.email])
        #expect(disabled.status == 0, "\(disabled.errors)")
        for socket in others {
            let (took, end) = try seconds { try socket.untilClosed() }
            #expect(end == .close(4403, "session_ended") && took < .promptly)
        }
        for node in [nodes.a, nodes.b] {
            #expect(
                try await eventually {
                    try node.request("GET", "/api/auth/me", headers: [bob.bearer]).status == 401
                })
            let again = try node.request(
                "POST", "/api/auth/login", json: ["email": TestUser.bob.email, "password": TestUser.bob.password])
            #expect(again.status == 401)
        }
        #expect(try nodes.b.isHealthy(try nodes.a.login(.ada).token))
    }

    @Test("Events of intents run at one node reach the sockets at the other and can be replayed there")
    func events() async throws {
        let nodes = try await TwoNodes<GatewayInProcess>()
        defer { nodes.stop() }
        let ada = try nodes.a.login(.ada)
        let here = try AgentProbe(nodes.a, ada)
        let there = try AgentProbe(nodes.b, ada)
        for index in 1...3 {
            let event = try here.run("echo", id: "c\(index)", params: "{\"n\":\(index)}")
            #expect(try there.next() == .text(event))
        }
        // An id that was used at one node is not run again at the other.
        #expect(try there.run("echo", id: "c2", params: "{\"n\":2}").contains("\"seq\":2"))
        let replay = try AgentProbe(
            nodes.b, query: "?resume_from=1", headers: [ada.bearer, ("Session-Id", ada.sessionID)])
        _ = try replay.next()
        guard case .text(let second) = try replay.next(), case .text(let third) = try replay.next() else {
            Issue.record("no replay")
            return
        }
        #expect(second.contains("\"seq\":2") && third.contains("\"seq\":3"))
    }

    @Test("A node with foreign keys does not start, and of two that start first with keys of their own one does not")
    func foreignKeys() async throws {
        let nodes = try await TwoNodes<GatewayInProcess>(users: [])
        defer { nodes.stop() }
        let environment = ["GATEHOUSE_STATE_URL": nodes.url]
        func refusal(_ url: String) async -> String? {
            do {
                _ = try await GatewayProcess.start("", users: [], environment: ["GATEHOUSE_STATE_URL": url])
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(await refusal(nodes.url)?.contains("holds none of the keys") == true)
        // With a foreign key of its own it is told the same.
        let place = try GatewayProcess.makeDirectory()
        let made = try GatewayProcess.run(
            ["keys", "generate", "--keys", place.appendingPathComponent("keys").path], in: place, stateful: false)
        #expect(made.status == 0, "\(made.errors)")
        await #expect(throws: GatewayFailure.self) {
            _ = try await GatewayProcess.start("", users: [], environment: environment, directory: place)
        }
        for _ in 0..<5 {
            let url = nodes.postgres.url(database: try nodes.postgres.createDatabase())
            async let first = refusal(url)
            async let second = refusal(url)
            let refusals = [await first, await second].compactMap(\.self)
            #expect(refusals.count == 1)
            #expect(refusals.allSatisfy { $0.contains("holds none of the keys") })
        }
    }
}
