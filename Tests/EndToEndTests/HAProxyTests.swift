import BasicsForTests
import Foundation
import PostgresForTests
import Testing

/// The worked example of docs/several-nodes.md, run as it stands.
@Suite(.enabled(if: PrivatePostgres.isAvailable && HAProxyProgram.path != nil), .blocking) struct HAProxyTests {
    private static let example = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Examples/several-nodes")

    @Test("A client keeps its session and its events when the node it is on dies")
    func failover() async throws {
        let postgres = try PrivatePostgres.shared.get()
        let url = postgres.url(database: try postgres.createDatabase())
        let configuration = try String(
            contentsOf: Self.example.appendingPathComponent("gatehouse.yaml"), encoding: .utf8)
        let admins = [try SocketAddressing.unusedPort(), try SocketAddressing.unusedPort()]
        var nodes: [GatewayProcess] = []
        for admin in admins {
            let place = try GatewayProcess.makeDirectory()
            if let first = nodes.first {
                try FileManager.default.copyItem(
                    at: first.directory.appendingPathComponent("keys"), to: place.appendingPathComponent("keys"))
            }
            nodes.append(
                try await GatewayProcess.start(
                    configuration, users: [],
                    environment: ["GATEHOUSE_STATE_URL": url, "GATEHOUSE_SERVER_ADMIN": "127.0.0.1:\(admin)"],
                    directory: place))
        }
        defer { for node in nodes { node.stop() } }
        try await TestAccounts.add([.ada], url: url)

        let front = try SocketAddressing.unusedPort()
        let proxy = Process()
        proxy.executableURL = URL(fileURLWithPath: try #require(HAProxyProgram.path))
        proxy.arguments = ["-db", "-f", Self.example.appendingPathComponent("haproxy.cfg").path]
        proxy.environment = [
            "GATEHOUSE_BIND": "127.0.0.1:\(front)",
            "GATEHOUSE_A": "127.0.0.1:\(nodes[0].port)", "GATEHOUSE_A_ADMIN": "\(admins[0])",
            "GATEHOUSE_B": "127.0.0.1:\(nodes[1].port)", "GATEHOUSE_B_ADMIN": "\(admins[1])",
        ]
        proxy.standardError = FileHandle.nullDevice
        proxy.standardOutput = FileHandle.nullDevice
        try Program.start(proxy) {}
        defer {
            // A program that inherits blocked signals may not be ended by SIGTERM.
            kill(proxy.processIdentifier, SIGKILL)
            proxy.waitUntilExit()
        }
        let login = try await answer(
            front, "POST", "/api/auth/login",
            json: #"{"email":"\#(TestUser.ada.email)","password":"\#(TestUser.ada.password)"}"#)
        let ada = LoggedIn(login.json)
        #expect(login.status == 200)
        let credentials = [ada.bearer, ("Session-Id", ada.sessionID)]

        // A node that answers a check late on a busy machine is left out for a moment.
        var opened: AgentProbe?
        #expect(
            try await eventually {
                opened = try? AgentProbe(port: front, headers: credentials)
                return opened != nil
            })
        let socket = try #require(opened)
        _ = try socket.next()
        #expect(try socket.run("echo", id: "c1").contains("\"seq\":1"))
        // The one node with an open socket is the one that dies.
        let victim = try openSockets(admins[0]) > 0 ? 0 : 1
        nodes[victim].kill()
        #expect(try socket.untilClosed() != .text(""))

        let again = try await answer(
            front, "POST", "/api/intent", headers: credentials,
            json: #"{"id":"c2","intent":"echo","params":{}}"#)
        #expect(again.status == 200 && again.text.contains("\"seq\":2"))
        var reopened: AgentProbe?
        #expect(
            try await eventually {
                reopened = try? AgentProbe(port: front, query: "?resume_from=0", headers: credentials)
                return reopened != nil
            })
        let back = try #require(reopened)
        let frames = try (0..<3).map { _ in try back.next() }
        #expect("\(frames[0])".contains("ready"))
        #expect("\(frames[1])".contains("c1") && "\(frames[2])".contains("c2"))
        let logout = try await answer(front, "POST", "/api/auth/logout", headers: [ada.bearer], json: "{}")
        #expect(logout.status == 204)
        #expect(try back.untilClosed() == .close(4403, "session_ended"))
    }

    private func answer(
        _ port: Int, _ method: String, _ path: String, headers: [(String, String)] = [], json: String
    ) async throws -> RawResponse {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nConnection: close\r\n"
        text += "Content-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        let request = text + "\r\n" + json
        var last: RawResponse?
        // HAProxy needs a moment to find out who is there.
        _ = try await eventually {
            guard let socket = try? RawSocket(port: port) else { return false }
            try socket.send(request)
            last = try? socket.response()
            return last.map { $0.status != 503 && $0.status != 502 } ?? false
        }
        return try #require(last)
    }

    private func openSockets(_ admin: Int) throws -> Int {
        let socket = try RawSocket(port: admin)
        try socket.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let line = try socket.response().text.split(separator: "\n").first { $0.hasPrefix("gatehouse_leases ") }
        return line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
    }
}

private enum HAProxyProgram {
    static let path = ["/usr/sbin/haproxy", "/usr/bin/haproxy", "/usr/local/sbin/haproxy"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }
}
