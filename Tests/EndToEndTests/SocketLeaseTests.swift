import BasicsForTests
import Foundation
import GatewayForTests
import Testing

/// An open socket is authorised for as long as it lives.
@Suite(.blocking) struct SocketLeaseTests {
    private static let paths = ["/api/runtime/agent", "/api/runtime/echo"]

    private func sockets(_ gateway: any GatewayUnderTest, _ user: LoggedIn) throws -> [WebSocketProbe] {
        try Self.paths.map { try gateway.opened("\($0)?\(user.query)") }
    }

    @Test("It closes when its token expires, and a refresh extends it without a byte on it")
    func expiry() async throws {
        let gateway = try await GatewayInProcess.start("tokens: {access_token_lifetime: 15m, clock_skew: 0s}")
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let (expiring, extended) = (try sockets(gateway, bob), try sockets(gateway, ada))
        gateway.clock.advance(by: .seconds(10 * 60))
        #expect(try gateway.refresh(ada.refreshToken).status == 200)
        for probe in expiring + extended { try expectOpen(probe) }
        gateway.clock.advance(by: .seconds(5 * 60 + 1))
        try expectExpired(expiring)
        for probe in extended { try expectOpen(probe) }
        gateway.clock.advance(by: .seconds(10 * 60))
        try expectExpired(extended)
    }

    private func expectOpen(_ probe: WebSocketProbe) throws {
        try probe.send(WebSocketProbe.frame(9))
        #expect(try probe.next()?.opcode == 10)
    }

    private func expectExpired(_ probes: [WebSocketProbe]) throws {
        let (took, ends) = try seconds { try probes.map { try $0.closing() } }
        #expect(ends.allSatisfy { $0 == "4401 token_expired" } && took < .promptly, "\(ends) after \(took) s")
    }

    @Test("Logout, DELETE and reuse close every socket of the session at once; another's stay")
    func ends() async throws {
        let gateway = try await GatewayInProcess.start("limits: {enabled: false}\n")
        defer { gateway.stop() }
        let bob = try gateway.login(.bob)
        let bystander = try gateway.opened("/api/runtime/agent?\(bob.query)")
        let acts: [(String, (LoggedIn) throws -> Void)] = [
            ("logout by token", { _ = try gateway.request("POST", "/api/auth/logout", headers: [$0.bearer]) }),
            (
                "logout by secret",
                { _ = try gateway.request("POST", "/api/auth/logout", headers: [("Session-Secret", $0.sessionSecret)]) }
            ),
            (
                "logout by refresh token",
                { _ = try gateway.request("POST", "/api/auth/logout", json: ["refresh_token": $0.refreshToken]) }
            ),
            (
                "delete",
                { _ = try gateway.request("DELETE", "/api/session/\($0.sessionID)", headers: [$0.bearer]) }
            ),
            (
                "reuse",
                { user in
                    var token = user.refreshToken
                    for _ in 0..<2 {
                        let answer = try gateway.request("POST", "/api/auth/refresh", json: ["refresh_token": token])
                        token = answer.json["refresh_token"] as? String ?? ""
                    }
                    let reused = try gateway.request(
                        "POST", "/api/auth/refresh", json: ["refresh_token": user.refreshToken])
                    #expect(reused.code == "invalid_grant")
                }
            ),
        ]
        for (name, act) in acts {
            let best = try shortest(below: 0.5) {
                let ada = try gateway.login(.ada)
                let open = try sockets(gateway, ada)
                try act(ada)
                let (took, codes) = try seconds { try open.map { try $0.closing() } }
                #expect(codes.allSatisfy { $0 == "4403 session_ended" }, "\(name): \(codes)")
                for probe in open { #expect(try probe.next() == nil, "\(name): nothing follows the Close") }
                return took
            }
            #expect(best < 0.5, "\(name): \(best) s")
        }
        try bystander.send(text: #"{"type":"intent","id":"a","intent":"echo"}"#)
        #expect(try bystander.message()?.json["id"] as? String == "a")
    }

    @Test("What another process ends is closed within a second")
    func otherProcess() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let (ada, other) = (try gateway.login(.ada), try gateway.login(.ada))
        let first = try sockets(gateway, ada)
        let second = try sockets(gateway, other)
        #expect(try GatewayProcess.run(["sessions", "end", ada.sessionID], in: gateway.directory).status == 0)
        let (took, codes) = try seconds { try first.map { try $0.closing() } }
        #expect(codes.allSatisfy { $0 == "4403 session_ended" } && took < .promptly, "\(codes) \(took)")
        let disable = ["users", "disable", TestUser.ada.email, "--tenant", TestUser.ada.tenant]
        #expect(try GatewayProcess.run(disable, in: gateway.directory).status == 0)
        let (tookAgain, codesAgain) = try seconds { try second.map { try $0.closing() } }
        #expect(
            codesAgain.allSatisfy { $0 == "4403 session_ended" } && tookAgain < .promptly,
            "\(codesAgain) \(tookAgain)")
        // Its sessions are reported before its tokens.
        #expect(
            try await eventually {
                try gateway.socket("/api/runtime/agent?\(other.query)").answer.status == 401
            })
    }

    @Test("A token revoked while its session lives closes 4401; a guest session ends alone")
    func revoked() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let made = try GatewayProcess.run(
            ["clients", "add", "service", "--tenant", TestUser.ada.tenant, "--json"], in: gateway.directory)
        let client = try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: Any] ?? [:]
        let pair = "\(client["client_id"] as? String ?? ""):\(client["client_secret"] as? String ?? "")"
        let basic = ("Authorization", "Basic " + Data(pair.utf8).base64EncodedString())

        let ada = try gateway.login(.ada)
        let made2 = try gateway.request("POST", "/api/session/create", headers: [ada.bearer], json: [String: String]())
        let guest = made2.json["session_id"] as? String ?? ""
        let home = try gateway.opened("/api/runtime/agent?\(ada.query)")
        let visitor = try gateway.opened("/api/runtime/agent?access_token=\(ada.token)&session_id=\(guest)")
        #expect(try gateway.request("DELETE", "/api/session/\(guest)", headers: [ada.bearer]).status == 204)
        #expect(try visitor.closing() == "4403 session_ended")
        try home.send(text: #"{"type":"intent","id":"a","intent":"echo"}"#)
        #expect(try home.message()?.json["id"] as? String == "a")
        let revoke = try gateway.request(
            "POST", "/oauth2/revoke", headers: [basic, ("Content-Type", "application/x-www-form-urlencoded")],
            body: "token=\(ada.token)")
        #expect(revoke.status == 200)
        #expect(try home.closing() == "4401 token_revoked")
        #expect(try gateway.login(.ada).outcome == "created")
    }

    @Test("SIGTERM says 1001 to every socket and the process ends")
    func drain() async throws {
        let gateway = try await GatewayProcess.start()
        let open = try sockets(gateway, try gateway.login(.ada))
        kill(gateway.processID, SIGTERM)
        for probe in open { #expect(try probe.closing() == "1001 draining") }
        #expect(gateway.stop() == 0)
    }

    @Test("An open socket keeps its session in use; a client that answers no ping is gone after two")
    func uses() async throws {
        // A client has two intervals for its answer, here that is a test on a busy machine.
        let gateway = try await GatewayInProcess.start("sessions:\n  idle: 10m\nwebsocket:\n  ping: 3s")
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let open = try gateway.opened("/api/runtime/echo?\(ada.query)")
        let silent = try gateway.opened("/api/runtime/echo?\(ada.query)")
        // Four minutes each: longer than the session lives without use.
        for _ in 0..<3 {
            gateway.clock.advance(by: .seconds(4 * 60))
            let frame = try #require(try open.next())
            #expect(frame.first == 0x89)
            try open.send(WebSocketProbe.frame(10, frame.payload))
        }
        let session = try gateway.request("GET", "/api/session/\(ada.sessionID)", headers: [ada.bearer])
        #expect(session.status == 200 && session.json["state"] as? String == "authenticated")
        #expect(try silent.next()?.opcode == 9 && silent.next()?.opcode == 9 && silent.next() == nil)
    }

    @Test("A client that does not read is not read from, and costs a bounded amount of memory")
    func slowReader() async throws {
        let gateway = try await GatewayProcess.start("websocket:\n  max_message: 1MiB")
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let probe = try gateway.opened("/api/runtime/echo?\(ada.query)")
        // What is not taken for so long will not be.
        probe.socket.wait(seconds: 2)
        let before = try gateway.residentMemory()
        let message = WebSocketProbe.frame(2, [UInt8](repeating: 7, count: 100_000))
        var sent = 0
        while sent < 2000, (try? probe.send(message)) != nil { sent += 1 }
        #expect(sent < 2000, "the flood was stopped")
        #expect(try gateway.residentMemory() - before < 16 * 1024, "kB")
        #expect(try gateway.isHealthy(ada.token))
        // Nothing was lost: once it reads, everything it sent whole comes back.
        probe.socket.wait(seconds: RawSocket.patience)
        for _ in 0..<max(0, sent - 1) { #expect(try probe.next()?.payload.count == 100_000) }
    }
}
