import BasicsForTests
import Encodings
import Foundation
import GatewayForTests
import PostgresForTests
import Synchronization
import Testing

/// What is delivered again, later or not at all.
extension WebhookTests {
    @Test("What is not taken comes again with the same id, and before what happened later in the session")
    func retries() async throws {
        let answers = Mutex(["503 Unavailable\r\nRetry-After: 60", "500 Broken", "302 Found\r\nLocation: /elsewhere"])
        let receiver = try RecordingUpstream { _, stream in
            let status = answers.withLock { $0.isEmpty ? "204 None" : $0.removeFirst() }
            try stream.send("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n")
            return .keep
        }
        defer { receiver.stop() }
        let gateway = try await GatewayInProcess.start(
            Self.configuration(receiver.url, events: "session.upgraded, session.ended"), users: [.ada])
        defer { gateway.stop() }
        let login = try gateway.login(.ada)
        expectStatus(try gateway.request("POST", "/api/auth/logout", headers: [login.bearer]), 204)
        for failures in 1...3 {
            // It may have been tried again by itself meanwhile.
            #expect(try await eventually { Self.failures(gateway) >= failures })
            // `Retry-After` asks for a minute.
            gateway.clock.advance(by: .seconds(61))
        }
        #expect(try await eventually { Self.ids(receiver).count == 2 })
        let ids = receiver.requests.map { $0["event-id"] ?? "" }
        // An answer that a busy machine does not read in time is asked for once more.
        let tries = ids.prefix { $0 == ids.first }.count
        #expect(tries >= 4 && ids.count == tries + 1, "\(ids)")
        #expect(Set(receiver.requests.map(\.target)) == ["/"], "a redirect is not followed")
        // Their `iat` is that of a clock that was put forward, so they are only looked into here.
        let kinds = try receiver.requests.map { request in
            let parts = String(decoding: request.body, as: UTF8.self).split(separator: ".")
            let claims = try StrictJSON.object(try #require(Base64URL.decode(String(parts[1]))))
            return claims["events"]?.objectValue?.names.first?.split(separator: "/").last.map(String.init) ?? ""
        }
        #expect(kinds == Array(repeating: "session.upgraded", count: tries) + ["session.ended"])
    }

    @Test("Events wait over a restart for a receiver that was down")
    func restart() async throws {
        let port = try SocketAddressing.unusedPort()
        let yaml = Self.configuration(
            "http://127.0.0.1:\(port)/hooks", events: "session.upgraded, session.ended, login.failed",
            more: "tokens: {issuer: 'http://127.0.0.1:1'}")
        let first = try await GatewayInProcess.start(yaml, users: [.ada])
        let login = try first.login(.ada)
        #expect(try await eventually { first.log.contains("an event was not taken") })
        // What happened is in the store before the answer, a failed login before the gateway has stopped.
        expectStatus(try first.request("POST", "/api/auth/logout", headers: [login.bearer]), 204)
        let wrong = TestUser(email: TestUser.ada.email, password: "wrong", tenant: "acme")
        expectStatus(try first.attemptLogin(wrong), 401)
        first.stop()
        let receiver = try RecordingUpstream(port: port)
        defer { receiver.stop() }
        let second = try await GatewayInProcess.start(yaml, users: [.ada], directory: first.directory)
        defer { second.stop() }
        second.clock.advance(by: .seconds(60))
        // Each at least once: an answer that was lost with the first gateway is asked for again.
        #expect(try await eventually(within: .seconds(60)) { Set(receiver.requests.map { $0["event-id"] }).count == 3 })
    }

    @Test("After 24 hours, or with 410 at once, an event becomes a dead letter and a line in the log")
    func deadLetters() async throws {
        // It asks for an hour, so that nothing is tried again before the test puts the clock forward.
        let status = Mutex("503 Unavailable\r\nRetry-After: 3600")
        let receiver = try RecordingUpstream { _, stream in
            try stream.send("HTTP/1.1 \(status.withLock { $0 })\r\nContent-Length: 0\r\n\r\n")
            return .keep
        }
        defer { receiver.stop() }
        let gateway = try await GatewayInProcess.start(
            Self.configuration(receiver.url, events: "login.failed"), users: [.ada])
        defer { gateway.stop() }
        let wrong = TestUser(email: TestUser.ada.email, password: "wrong", tenant: "acme")
        expectStatus(try gateway.attemptLogin(wrong), 401)
        #expect(try await eventually { Self.failures(gateway) >= 1 })
        gateway.clock.advance(by: .seconds(86_400))
        #expect(try await eventually { gateway.log.contains("an event was given up") })
        #expect(receiver.requests.count == 2 && gateway.log.contains("expired"))
        gateway.clock.advance(by: .seconds(86_400))
        status.withLock { $0 = "410 Gone" }
        expectStatus(try gateway.attemptLogin(wrong), 401)
        #expect(try await eventually { gateway.log.contains("gone") })
        #expect(receiver.requests.count == 3, "what was given up is not sent again")
    }

    @Test("A receiver that does not answer holds up no request and no other receiver")
    func slow() async throws {
        // The slow one is given up after five seconds: in one of three tries a machine is fast enough to be done
        // before.
        var failures = 0
        for _ in 0..<3 {
            failures = try await failuresBesideQuick()
            if failures == 0 { break }
        }
        #expect(failures == 0, "the first attempt at the slow one is still under way")
    }

    /// How many attempts had failed when the quick receiver had all of its events, and the slow one had its first.
    private func failuresBesideQuick() async throws -> Int {
        let slow = try RecordingUpstream { _, stream in
            _ = try stream.readSome()
            return .close
        }
        let quick = try RecordingUpstream()
        defer {
            slow.stop()
            quick.stop()
        }
        let gateway = try await GatewayInProcess.start(
            """
            limits: {enabled: false}
            events:
              - {url: '\(slow.url)', events: [session.upgraded], allow_private: true}
              - {url: '\(quick.url)', events: session.upgraded, allow_private: true}
            """, users: [.ada])
        defer { gateway.stop() }
        _ = try gateway.login(.ada)
        #expect(try await eventually { slow.requests.count == 1 })
        for _ in 0..<3 { _ = try gateway.login(.ada) }
        #expect(try await eventually { quick.requests.count == 4 })
        return Self.failures(gateway)
    }

    @Test("A receiver at a private address is told nothing, unless it may be")
    func privateAddress() async throws {
        let receiver = try RecordingUpstream()
        defer { receiver.stop() }
        for host in ["127.0.0.1", "localhost"] {
            let gateway = try await GatewayInProcess.start(
                "events: [{url: 'http://\(host):\(receiver.port)', events: [session.upgraded]}]\n", users: [.ada])
            defer { gateway.stop() }
            _ = try gateway.login(.ada)
            #expect(try await eventually { gateway.log.contains("address_refused") })
        }
        #expect(receiver.connectionCount == 0)
    }

    @Test(
        "Of two gateways on one store one delivers each event, and the other goes on when it stops",
        .enabled(if: PrivatePostgres.isAvailable))
    func twoNodes() async throws {
        let receiver = try RecordingUpstream()
        defer { receiver.stop() }
        let nodes = try await TwoNodes<GatewayInProcess>(
            more: Self.configuration(receiver.url, events: "session.upgraded"))
        defer { nodes.stop() }
        for _ in 0..<5 {
            _ = try nodes.a.login(.ada)
            _ = try nodes.b.login(.bob)
        }
        // An attempt that a busy machine does not answer in time is made again a while later.
        var again = 0
        func arrived(_ count: Int) async throws -> Bool {
            try await eventually(within: .seconds(90)) {
                let failures = Self.failures(nodes.a) + Self.failures(nodes.b)
                if failures > again { for node in [nodes.a, nodes.b] { node.clock.advance(by: .seconds(60)) } }
                again = failures
                return Set(receiver.requests.map { $0["event-id"] }).count == count
            }
        }
        #expect(try await arrived(10))
        #expect(receiver.requests.count <= 10 + again, "each is delivered by one")
        nodes.a.stop()
        _ = try nodes.b.login(.ada)
        #expect(try await arrived(11))
    }

    /// How many attempts have failed, each of which is logged once its answer is there.
    static func failures(_ gateway: GatewayInProcess) -> Int {
        gateway.log.components(separatedBy: "an event was not taken").count - 1
    }
}
