import Foundation
import Testing

/// Listening on Unix sockets: whose file it is, who comes in, and who they count as.
@Suite(.blocking) struct UnixListenerTests {
    /// A path that is short enough to be a socket's.
    private static func freshPath() -> String { "/tmp/gh-\(UUID().uuidString.prefix(8)).sock" }

    private static func get(_ socket: String, _ path: String, _ fields: String...) throws -> RawResponse {
        let socket = try RawSocket(unixPath: socket)
        let lines = fields.map { $0 + "\r\n" }.joined()
        try socket.send("GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(lines)\r\n")
        return try socket.response()
    }

    private static func mode(of path: String) throws -> Int {
        let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        return found?.intValue ?? 0
    }

    /// Starts a gateway that can't start; what it says.
    private static func failing(_ socket: String, in place: URL) throws -> String {
        let result = try GatewayProcess.run(
            [
                "serve", "--listen", "unix:\(socket)", "--admin", "off", "--keys",
                place.appendingPathComponent("keys").path,
            ], in: place)
        #expect(result.status == 1 && result.output.isEmpty, "\(result)")
        return result.errors
    }

    @Test(
        "The public listener and the operator's can be Unix sockets, for their group alone, whose files go at the end")
    func serves() async throws {
        let (path, admin) = (Self.freshPath(), Self.freshPath())
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayProcess.start(
            "server: {threads: 2}\nroutes: [{path: /open, upstream: \(upstream.url), require: none}]", users: [.ada],
            environment: ["GATEHOUSE_SERVER_ADMIN": "unix:\(admin)"], listen: "unix:\(path)")
        defer { gateway.stop() }
        #expect(gateway.origin == "unix:\(path)")
        #expect(try Self.mode(of: path) == 0o660 && Self.mode(of: admin) == 0o660)
        #expect(try Self.get(admin, "/healthz").status == 200 && Self.get(path, "/healthz").status == 404)
        #expect(
            try Self.get(path, "/.well-known/oauth-authorization-server").json["issuer"] as? String
                == "http://localhost")

        // Connections stay open side by side, on either loop.
        var held: [RawSocket] = []
        for _ in 0..<8 { held.append(try RawSocket(unixPath: path)) }
        for _ in 0..<2 {
            for socket in held {
                try socket.send("GET /open HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try socket.response().text == "ok")
            }
        }
        let socket = try RawSocket(unixPath: path)
        let body = #"{"email":"\#(TestUser.ada.email)","password":"\#(TestUser.ada.password)"}"#
        try socket.send(
            "POST /api/auth/login HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(try socket.response().status == 200)
        gateway.stop()
        #expect(!FileManager.default.fileExists(atPath: path) && !FileManager.default.fileExists(atPath: admin))
    }

    @Test("server.socket_mode says who may connect")
    func permissions() async throws {
        let path = Self.freshPath()
        let gateway = try await GatewayInProcess.start(
            "server: {socket_mode: 0600}\ntokens: {issuer: 'https://gate.example'}", users: [], listen: "unix:\(path)")
        defer { gateway.stop() }
        #expect(try Self.mode(of: path) == 0o600 && Self.get(path, "/api/auth/me").status == 401)
    }

    @Test("A socket that a dead gateway left is taken over, one that is answered is not")
    func takeover() async throws {
        let path = Self.freshPath()
        let dead = try await GatewayProcess.start("", users: [], listen: "unix:\(path)")
        dead.kill()
        #expect(FileManager.default.fileExists(atPath: path))
        let gateway = try await GatewayProcess.start("", users: [], directory: dead.directory, listen: "unix:\(path)")
        defer { gateway.stop() }
        #expect(try Self.get(path, "/api/auth/me").status == 401)
        let said = try Self.failing(path, in: gateway.directory)
        #expect(said.contains("in use") && said.contains(path), "\(said)")
        #expect(try Self.get(path, "/api/auth/me").status == 401)
    }

    @Test("What is no socket is never taken away, and neither is a file that came in the place of ours")
    func foreignFiles() async throws {
        let path = Self.freshPath()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
        let place = try GatewayProcess.makeDirectory()
        let said = try Self.failing(path, in: place)
        #expect(said.contains("no socket") && said.contains(path), "\(said)")
        #expect(FileManager.default.contents(atPath: path) == Data("precious".utf8))

        try FileManager.default.removeItem(atPath: path)
        let gateway = try await GatewayProcess.start("", users: [], directory: place, listen: "unix:\(path)")
        #expect(try Self.get(path, "/api/auth/me").status == 401)
        try FileManager.default.removeItem(atPath: path)
        try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
        gateway.stop()
        #expect(FileManager.default.contents(atPath: path) == Data("precious".utf8))
    }

    @Test("A peer on a Unix socket has no address; what it says of others counts only where 'unix' is trusted")
    func forwarded() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let routes =
            "routes:\n  - {path: /open, upstream: \(upstream.url), require: none}\n  - {path: /shut, require: token}"
        let fields = ["X-Forwarded-For: 203.0.113.7", "X-Forwarded-Proto: https"]
        let path = Self.freshPath()
        let wary = try await GatewayInProcess.start(
            "server: {trusted_proxies: [127.0.0.1, '::/0', 0.0.0.0/0]}\n" + routes, users: [], listen: "unix:\(path)")
        defer { wary.stop() }
        #expect(try Self.get(path, "/open", fields[0], fields[1]).status == 200)
        #expect(upstream.requests.last?["x-forwarded-for"] == "unknown")
        #expect(upstream.requests.last?["x-forwarded-proto"] == "http")
        #expect(try Self.get(path, "/api/auth/verify", "X-Original-URI: /open").status == 403)
        wary.stop()

        let trusting = try await GatewayInProcess.start(
            "server: {trusted_proxies: [unix]}\n" + routes, users: [], listen: "unix:\(path)")
        defer { trusting.stop() }
        #expect(try Self.get(path, "/open", fields[0], fields[1]).status == 200)
        #expect(upstream.requests.last?["x-forwarded-for"] == "203.0.113.7")
        #expect(upstream.requests.last?["x-forwarded-proto"] == "https")
        #expect(try Self.get(path, "/open").status == 200 && upstream.requests.last?["x-forwarded-for"] == "unknown")
        #expect(try Self.get(path, "/api/auth/verify", "X-Original-URI: /open").status == 200)
        #expect(try Self.get(path, "/api/auth/verify", "X-Original-URI: /shut").status == 401)
    }
}
