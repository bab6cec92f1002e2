import BasicsForTests
import Foundation
import Synchronization
import Testing

/// What has been answered is there afterwards, however the process ended.
@Suite(.blocking) struct DurabilityTests {
    private static let unlimited = "limits:\n  enabled: false\n"

    /// On a port that is still its own when it is started again.
    private static func start(users: [TestUser] = TestUser.standard) async throws -> GatewayProcess {
        try await GatewayProcess.start(
            unlimited, users: users, listen: "127.0.0.1:\(try SocketAddressing.unusedPort())")
    }

    private static func restart(_ gateway: GatewayProcess) async throws -> GatewayProcess {
        try await GatewayProcess.start(
            unlimited, users: [], directory: gateway.directory, listen: "127.0.0.1:\(gateway.port)")
    }

    @Test("A restart keeps sessions, tokens, families and logouts")
    func restart() async throws {
        let gateway = try await Self.start(users: [.ada, .bob])
        let (ada, out) = (try gateway.login(.ada), try gateway.login(.bob))
        let held = try gateway.anonymous(["metadata": ["a": 1]])
        expectStatus(try gateway.request("POST", "/api/auth/logout", headers: [out.bearer]), 204)
        #expect(gateway.stop() == 0, "a drained gateway ends well")

        let again = try await Self.restart(gateway)
        defer { again.stop() }
        #expect(try again.isHealthy(ada.token))
        expectStatus(try again.current(ada.sessionSecret), 200)
        #expect(try again.current(held.secret).text.contains(#""metadata":{"a":1}"#))
        expectRefused(try again.me(out.token), 401, "invalid_token")
        expectRefused(try again.refresh(out.refreshToken), 401, "invalid_grant")
        expectRefused(try again.session(out.sessionID, HeldSession(out).field), 410, "session_ended")
        expectStatus(try again.refresh(ada.refreshToken), 200)
    }

    /// A login that was answered, and what was done with it before the end.
    private struct Done: Sendable {
        let before: HeldSession
        let login: LoggedIn
        var refreshToken: String
        var isOut = false
    }

    @Test("A kill in the middle of logins loses nothing that was answered and leaves nothing half done")
    func kill() async throws {
        var gateway = try await Self.start()
        for round in 0..<3 {
            let running = gateway
            let done = Mutex([Done]())
            let isKilled = Atomic(false)
            let jobs = (0..<6).map { index -> @Sendable () throws -> Void in
                { while !isKilled.load(ordering: .acquiring) { Self.work(running, index, done) } }
            }
            async let finished: [Void] = together(jobs)
            #expect(try await eventually(within: .seconds(120)) { done.withLock { $0.count } >= 3 + round })
            running.kill()
            isKilled.store(true, ordering: .releasing)
            _ = try await finished
            gateway = try await Self.restart(running)
            for entry in done.withLock({ $0 }) { try Self.check(entry, gateway) }
            expectStatus(try gateway.attemptLogin(.ada), 200)
        }
        gateway.stop()
    }

    /// Logs in, refreshes and logs out until an answer does not come.
    private static func work(_ gateway: GatewayProcess, _ index: Int, _ done: borrowing Mutex<[Done]>) {
        while let before = try? gateway.anonymous(),
            let answer = try? gateway.attemptLogin(TestUser.standard[index % 3], headers: [before.field])
        {
            guard answer.status == 200 else { continue }
            let login = LoggedIn(answer.json)
            var entry = Done(before: before, login: login, refreshToken: login.refreshToken)
            // What was asked for and not answered may have happened or not: such entries are left out.
            if index % 2 == 1 {
                guard let next = (try? gateway.refresh(login.refreshToken))?.json["refresh_token"] as? String else {
                    return
                }
                entry.refreshToken = next
            }
            if index % 3 == 2 {
                guard (try? gateway.request("POST", "/api/auth/logout", headers: [login.bearer]))?.status == 204 else {
                    return
                }
                entry.isOut = true
            }
            done.withLock { $0.append(entry) }
        }
    }

    private static func check(_ entry: Done, _ gateway: GatewayProcess) throws {
        let login = entry.login
        guard !entry.isOut else {
            expectRefused(try gateway.me(login.token), 401, "invalid_token")
            expectRefused(try gateway.session(login.sessionID, HeldSession(login).field), 410, "session_ended")
            return expectRefused(try gateway.refresh(entry.refreshToken), 401, "invalid_grant")
        }
        let session = try gateway.current(login.sessionSecret)
        #expect(session.json["session_id"] as? String == entry.before.id)
        #expect(session.json["user_id"] as? String == login.userID)
        expectRefused(try gateway.session(entry.before.id, entry.before.field), 403, "session_mismatch")
        #expect(try gateway.isHealthy(login.token))
        expectStatus(try gateway.refresh(entry.refreshToken), 200)
    }

    @Test("A gateway that is told to stop answers what has begun and takes nothing new")
    func drain() async throws {
        let gateway = try await GatewayProcess.start(Self.unlimited, users: [.ada])
        // On a thread of its own: what has begun is given `server.drain`, however busy the other tests are.
        let answer = try await onThread {
            let socket = try RawSocket(port: gateway.port)
            let body = #"{"email":"ada@example.com","password":"correct horse"}"#
            try socket.send(
                "POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                    + "Expect: 100-continue\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
            let interim = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
            #expect(try socket.read(interim.count) == interim)
            Foundation.kill(gateway.processID, SIGTERM)
            // It has stopped listening, which no event tells.
            while (try? RawSocket(port: gateway.port)) != nil { usleep(5_000) }
            try socket.send(body)
            return try socket.response()
        }
        #expect(answer.status == 200 && answer["connection"] == "close")
        #expect(gateway.stop() == 0)
    }
}
