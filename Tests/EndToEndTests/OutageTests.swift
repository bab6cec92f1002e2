import BasicsForTests
import Foundation
import PostgresForTests
import Testing

/// PostgreSQL goes away and comes back: nothing is let in that should not be, and nothing is lost.
@Suite(.enabled(if: PrivatePostgres.isAvailable), .quiet("its tokens live for some seconds")) struct OutageTests {
    private static let login = ["email": TestUser.ada.email, "password": TestUser.ada.password]

    @Test("A store that is away is failed closed, and everything is there when it is back")
    func outage() async throws {
        let postgres = try PrivatePostgres()
        defer { try? postgres.remove() }
        let upstream = try RecordingUpstream(script: RecordingUpstream.mirror)
        defer { upstream.stop() }
        let nodes = try await TwoNodes<GatewayProcess>(
            on: postgres,
            more: """
                state: {grace: 8s}
                errors: {explain: true}
                server: {trusted_proxies: [127.0.0.1]}
                routes:
                  - {path: /secret, upstream: "\(upstream.url)", require: session, websocket: true}
                  - {path: /ws, require: token+session, websocket: true}
                """)
        defer { nodes.stop() }
        let ada = try nodes.a.login(.ada)
        let guest = try nodes.a.request("POST", "/api/session/create-anonymous").json
        let id = try #require(guest["session_id"] as? String)
        let secret = try #require(guest["session_secret"] as? String)
        let sockets = try [nodes.a, nodes.b].map { try AgentProbe($0, ada) }

        for node in [nodes.a, nodes.b] {
            #expect(try Self.answers(node, ada) == [200, 101, 200, 200], "request, socket, decision on each")
        }

        let stopped = ContinuousClock.now
        try postgres.stop()
        let lost = ContinuousClock.now
        let asked = [
            ("X-Forwarded-Uri", "/ws"), ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ada.bearer,
            ("Session-Id", ada.sessionID),
        ]
        // First, at both, what holds for the time of grace alone.
        for node in [nodes.a, nodes.b] {
            // A link that was cut is noticed at once.
            #expect(try await eventually { try AgentProbe.status(node, ada)?.status == 503 })
            // Each event loop looks at the store's health by itself: this may be another than the one above.
            #expect(
                try await eventually { try Self.answers(node, ada) == [200, 503, 200, 503] },
                "memory lets requests in, and no new socket")
            // Without an upgrade it is a request like others.
            let plain = asked.filter { $0.0 != "Sec-WebSocket-Key" }
            #expect(try node.request("GET", "/api/auth/verify", headers: plain).status == 200)
            // What was verified goes on for the time of grace.
            #expect(try node.request("GET", "/api/auth/verify", headers: [ada.bearer]).status == 200)
        }
        for node in [nodes.a, nodes.b] {
            let refused: [(String, String, [(String, String)], [String: String]?)] = [
                ("POST", "/api/auth/login", [], Self.login),
                ("POST", "/api/auth/refresh", [], ["refresh_token": ada.refreshToken]),
                ("PATCH", "/api/session/\(id)/upgrade", [ada.bearer, ("Session-Secret", secret)], nil),
                ("POST", "/api/session/create-anonymous", [], nil),
                ("POST", "/api/session/\(ada.sessionID)/ticket", [ada.bearer], nil),
            ]
            for (method, path, headers, body) in refused {
                let took = try shortest(below: 3) {
                    let (took, answer) = try seconds { try node.request(method, path, headers: headers, json: body) }
                    #expect(answer.status == 503 && answer.code == "store_unavailable", "\(path): \(answer.text)")
                    return took
                }
                #expect(took < 3, "\(path): refused and not waited for, \(took) s")
            }
            // Each event loop looks at the store's health by itself: this may be another than the one above.
            #expect(try await eventually { try AgentProbe.status(node, ada)?.code == "store_unavailable" })
            // A proxy in front that asks about a new socket is told the same.
            #expect(
                try await eventually {
                    try node.request("GET", "/api/auth/verify", headers: asked).code == "store_unavailable"
                })
        }
        for socket in sockets { #expect(try socket.untilClosed() == .close(1013, "store_unavailable")) }
        // From before the stop, which cuts the links while it takes its time, and from behind it.
        let (most, least) = (stopped.duration(to: .now), lost.duration(to: .now))
        let longest = Duration.seconds(8) + .promptly
        #expect(most > .seconds(6.5) && least < longest, "\(least) to \(most)")
        for node in [nodes.a, nodes.b] {
            // Each event loop looks at the store's health by itself, twenty times a second.
            #expect(
                try await eventually {
                    try node.request("GET", "/api/auth/verify", headers: [ada.bearer]).status == 503
                })
        }

        // By now the nodes have tried in vain for so long that they try only once a second.
        try postgres.start()
        let back = ContinuousClock.now
        for node in [nodes.a, nodes.b] {
            #expect(
                try await eventually {
                    try node.request("POST", "/api/auth/login", json: Self.login).status == 200
                })
        }
        #expect(back.duration(to: .now) < .seconds(20))
        // The refused requests left everything as it was: token, secret and session are good.
        #expect(try nodes.b.isHealthy(ada.token))
        _ = try AgentProbe(nodes.b, ada)
        let refreshed = try nodes.b.request("POST", "/api/auth/refresh", json: ["refresh_token": ada.refreshToken])
        #expect(refreshed.status == 200)
        let upgraded = try nodes.a.request(
            "PATCH", "/api/session/\(id)/upgrade", headers: [ada.bearer, ("Session-Secret", secret)])
        #expect(upgraded.status == 200)
        for node in [nodes.a, nodes.b] {
            let told = ["the store is out of reach", "for longer than state.grace", "the store is back"]
            for line in told {
                #expect(try await eventually { node.log.contains(line) }, "\(line): \(node.log)")
                #expect(node.log.components(separatedBy: line).count == 2, "once: \(line)")
            }
        }
    }

    @Test("A store that is only silent is told of while it is, although nothing says why")
    func silence() async throws {
        let postgres = try PrivatePostgres()
        defer { try? postgres.remove() }
        let nodes = try await TwoNodes<GatewayProcess>(on: postgres, more: "state: {grace: 4s}")
        defer { nodes.stop() }
        // A server that is stopped does not end.
        defer { try? postgres.resume() }
        try postgres.pause()
        let told = ["the store is out of reach", "the cause of the store's outage", "for longer than state.grace"]
        // A machine that stands still makes it late: one outage of three is enough.
        var isInTime = false
        for outage in 1...3 where !isInTime {
            if outage > 1 { try postgres.pause() }
            // Sooner than any question to the store is given up.
            let limit = ContinuousClock.now + .seconds(7)
            for node in [nodes.a, nodes.b] {
                for line in told {
                    #expect(try await eventually { Self.count(line, node) >= outage }, "\(line): \(node.log)")
                }
                #expect(Self.count("the store is back", node) < outage)
            }
            isInTime = ContinuousClock.now < limit
            try postgres.resume()
            for node in [nodes.a, nodes.b] {
                #expect(try await eventually { Self.count("the store is back", node) >= outage }, "\(node.log)")
            }
        }
        #expect(isInTime)
    }

    /// How often a node has logged this.
    private static func count(_ line: String, _ node: GatewayProcess) -> Int {
        node.log.components(separatedBy: line).count - 1
    }

    /// What a session's secret is answered on a route that asks for it: a request, a socket, and the decision endpoint
    /// about either.
    private static func answers(_ node: GatewayProcess, _ user: LoggedIn) throws -> [Int] {
        let secret = ("Session-Secret", user.sessionSecret)
        let asked = [secret, ("X-Forwarded-Uri", "/secret"), ("X-Forwarded-Method", "GET")]
        let key = ("Sec-WebSocket-Key", WebSocketProbe.key)
        return [
            try node.request("GET", "/secret", headers: [secret]).status,
            try node.socket("/secret", headers: [secret]).answer.status,
            try node.request("GET", "/api/auth/verify", headers: asked).status,
            try node.request("GET", "/api/auth/verify", headers: asked + [key]).status,
        ]
    }

    @Test("What happens while a node hears nothing is made up for once it hears again")
    func gap() async throws {
        let nodes = try await TwoNodes<GatewayProcess>(
            tokens: "  access_token_lifetime: 10s\n  clock_skew: 0s",
            tokensOfB: "  access_token_lifetime: 5m\n  clock_skew: 0s")
        defer { nodes.stop() }
        // Only the one of ten seconds is to expire.
        let (ada, bob) = (try nodes.b.login(.ada), try nodes.a.login(.bob))
        let (ended, extended) = (try AgentProbe(nodes.b, ada), try AgentProbe(nodes.b, bob))

        kill(nodes.b.processID, SIGSTOP)
        let secret = ("Session-Secret", ada.sessionSecret)
        #expect(try nodes.a.request("POST", "/api/auth/logout", headers: [secret]).status == 204)
        // Expiry is told in whole seconds: this refresh shall move it by two of them.
        let issuedAt = bob.tokenExpiry - 10
        #expect(try await eventually { Date().timeIntervalSince1970 > issuedAt + 2.1 })
        let refresh = try nodes.a.request("POST", "/api/auth/refresh", json: ["refresh_token": bob.refreshToken])
        #expect(refresh.status == 200)
        let until = LoggedIn.expiry(of: refresh.json["access_token"] as? String ?? "")
        #expect(until >= bob.tokenExpiry + 2)
        // Every link of both nodes is cut while one of them can't notice.
        try nodes.postgres.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(nodes.database)' "
                + "AND pid <> pg_backend_pid()", database: nodes.database)
        kill(nodes.b.processID, SIGCONT)

        let (took, end) = try seconds { try ended.untilClosed() }
        #expect(end == .close(4403, "session_ended") && took < .promptly, "\(end) after \(took) s")
        #expect(
            try await eventually {
                try nodes.b.request("GET", "/api/auth/verify", headers: [ada.bearer]).status == 401
            })
        #expect(try await eventually { (try? nodes.b.login(.ada)) != nil })
        // The other one was refreshed meanwhile and outlives the token it came with.
        #expect(try extended.untilClosed() == .close(4401, "token_expired"))
        #expect(Date().timeIntervalSince1970 >= until)
    }
}
