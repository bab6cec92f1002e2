import BasicsForTests
import Foundation
import Testing

/// A configuration that changes while the gateway serves.
@Suite(.blocking) struct ReloadTests {
    private static func yaml(_ routes: [(path: String, url: String)], more: String = "") -> String {
        let lines = routes.map { "  - {path: \($0.path), upstream: '\($0.url)', require: none, websocket: true}" }
        return "routes:\n\(lines.joined(separator: "\n"))\n\(more)\n"
    }

    private static func upgrading() throws -> RecordingUpstream {
        try RecordingUpstream { request, stream in
            guard request["upgrade"] != nil else {
                try stream.send(RecordingUpstream.plainAnswer)
                return .keep
            }
            try stream.send(RecordingUpstream.upgradeAnswer)
            while case let bytes = try stream.readSome(), !bytes.isEmpty { try stream.send([0x81, 1, 0x78]) }
            return .close
        }
    }

    @Test("Routes, limits and origins change for the next request; a socket of a route that stays goes on")
    func routes() async throws {
        let upstream = try Self.upgrading()
        let gateway = try await GatewayInProcess.start(
            Self.yaml([("/a", upstream.url), ("/gone", upstream.url)]))
        defer { gateway.stop() }
        #expect(try gateway.request("GET", "/a").status == 200 && gateway.request("GET", "/b").status == 404)
        let (stays, goes) = (
            try WebSocketProbe(gateway, "/a/socket"), try WebSocketProbe(gateway, "/gone/socket")
        )
        #expect(stays.answer.status == 101 && goes.answer.status == 101)
        let more = """
            server:
              allowed_origins: [https://new.example]
              hosts: [127.0.0.1]
            limits: {anonymous_per_minute: 1}

            """
        try await gateway.change(to: Self.yaml([("/a", upstream.url), ("/b", upstream.url)], more: more))
        #expect(try gateway.request("GET", "/b").status == 200 && gateway.request("GET", "/gone").status == 404)
        let preflight = try gateway.request(
            "OPTIONS", "/api/auth/me",
            headers: [("Origin", "https://new.example"), ("Access-Control-Request-Method", "GET")])
        #expect(preflight["access-control-allow-origin"] == "https://new.example")
        let none: [String: String] = [:]
        let created = try (0..<2).map { _ in
            try gateway.request("POST", "/api/session/create-anonymous", json: none).status
        }
        #expect(created == [200, 429])
        // The route of one socket is gone: 4403. The other still relays.
        let close = try goes.socket.read(4)
        #expect(close[0] == 0x88 && Int(close[2]) << 8 | Int(close[3]) == 4403)
        try stays.socket.send([0x81, 0x81, 0, 0, 0, 0, 0x61])
        #expect(try stays.socket.read(3) == [0x81, 1, 0x78])
    }

    @Test("A request that is in progress is answered by the configuration in which it began")
    func inProgress() async throws {
        let mayAnswer = DispatchSemaphore(value: 0)
        let upstream = try RecordingUpstream { _, stream in
            _ = mayAnswer.wait(timeout: .now() + 20)
            try stream.send(RecordingUpstream.plainAnswer)
            return .keep
        }
        let gateway = try await GatewayInProcess.start(Self.yaml([("/slow", upstream.url)]))
        defer { gateway.stop() }
        let socket = try RawSocket(port: gateway.port)
        try socket.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try await eventually { upstream.requests.count == 1 })
        try await gateway.change(to: "routes: []\n")
        mayAnswer.signal()
        #expect(try socket.response().status == 200)
        try socket.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try socket.response().status == 404)
    }

    private static func start(_ yaml: String) async throws -> (gateway: GatewayProcess, admin: Int) {
        let admin = try SocketAddressing.unusedPort()
        let gateway = try await GatewayProcess.start(
            "\(yaml)\nerrors:\n  explain: false\n", users: [],
            environment: ["GATEHOUSE_SERVER_ADMIN": "127.0.0.1:\(admin)"])
        return (gateway, admin)
    }

    private static func reload(_ gateway: GatewayProcess, admin: Int) throws -> CommandResult {
        try GatewayProcess.run(
            ["reload", "--config", gateway.directory.appendingPathComponent("gatehouse.yaml").path],
            in: gateway.directory,
            stateful: false, environment: ["GATEHOUSE_SERVER_ADMIN": "127.0.0.1:\(admin)"])
    }

    private static func write(_ yaml: String, _ gateway: GatewayProcess) throws {
        let file = gateway.directory.appendingPathComponent("gatehouse.yaml")
        try yaml.write(to: file, atomically: true, encoding: .utf8)
    }

    @Test("gatehouse reload applies the file and names what needs a restart; a wrong file changes nothing")
    func command() async throws {
        let upstream = try RecordingUpstream()
        let (gateway, admin) = try await Self.start(Self.yaml([("/a", upstream.url)]))
        defer { gateway.stop() }
        try Self.write(Self.yaml([("/b", upstream.url)], more: "sessions:\n  idle: 7h\n"), gateway)
        let done = try Self.reload(gateway, admin: admin)
        #expect(done.status == 0 && done.output.contains("sessions.idle"), "\(done)")
        #expect(try gateway.request("GET", "/b").status == 200 && gateway.request("GET", "/a").status == 404)

        try Self.write("routes:\n  - path: /c\n    upstrem: http://127.0.0.1:1\n", gateway)
        let refused = try Self.reload(gateway, admin: admin)
        #expect(refused.status == 2 && refused.errors.contains("gatehouse.yaml:3:"), "\(refused)")
        #expect(try gateway.request("GET", "/b").status == 200)
        // The gateway itself refuses it as well, and says so.
        Foundation.kill(gateway.processID, SIGHUP)
        #expect(
            try await eventually {
                gateway.log.contains("not changed") && gateway.log.contains("gatehouse.yaml:3:")
            })
        #expect(try gateway.request("GET", "/b").status == 200)
        gateway.stop()
        try Self.write("routes: []\n", gateway)
        #expect(try Self.reload(gateway, admin: admin).status == 1)
    }

    @Test(
        "An answer that is not the admin listener's is no success",
        arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
    func foreignServer(answer: String) throws {
        let other = try RecordingUpstream { _, stream in
            try stream.send(answer)
            return .close
        }
        defer { other.stop() }
        let result = try GatewayProcess.run(
            ["reload", "--admin", "127.0.0.1:\(other.port)"], in: GatewayProcess.makeDirectory(), stateful: false)
        #expect(result.status == 1 && result.output.isEmpty && !result.errors.isEmpty, "\(result)")
    }

    @Test("A changed file is applied by itself with server.watch")
    func watch() async throws {
        let upstream = try RecordingUpstream()
        let (gateway, _) = try await Self.start(
            Self.yaml([("/a", upstream.url)], more: "server:\n  watch: true\n"))
        defer { gateway.stop() }
        try Self.write(Self.yaml([("/b", upstream.url)], more: "server:\n  watch: true\n"), gateway)
        #expect(try await eventually { try gateway.request("GET", "/b").status == 200 })
    }

    @Test("No page in a browser of this machine can have the gateway reload")
    func pages() async throws {
        let (gateway, admin) = try await Self.start("")
        defer { gateway.stop() }
        for field in ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site"] {
            let socket = try RawSocket(port: admin)
            try socket.send("POST /reload HTTP/1.1\r\nHost: localhost\r\n\(field)\r\nContent-Length: 0\r\n\r\n")
            #expect(try socket.response().status == 403)
        }
        let socket = try RawSocket(port: admin)
        try socket.send("GET /reload HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try socket.response().status == 405)
    }
}
