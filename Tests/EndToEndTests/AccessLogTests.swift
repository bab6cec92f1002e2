import BasicsForTests
import Foundation
import Testing

/// The access log: one line for every request that was answered, in whatever way.
@Suite(.blocking) struct AccessLogTests {
    private static let yaml = """
        log:
          access: access.jsonl
        limits:
          enabled: false
        """

    private static func lines(of gateway: some GatewayUnderTest) throws -> [[String: Any]] {
        let text = try String(contentsOf: gateway.directory.appendingPathComponent("access.jsonl"), encoding: .utf8)
        return text.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    /// The line of the first request to a path, once it is there.
    private static func line(
        of gateway: some GatewayUnderTest, path: String, method: String = "GET"
    ) async throws -> [String: Any] {
        _ = try await eventually {
            try lines(of: gateway).contains { $0["path"] as? String == path && $0["method"] as? String == method }
        }
        return try #require(
            lines(of: gateway).first { $0["path"] as? String == path && $0["method"] as? String == method })
    }

    @Test("A refused request says who asked, where the token was accepted before something else was refused")
    func refused() async throws {
        let gateway = try await GatewayInProcess.start(
            Self.yaml
                + """

                routes:
                  - path: /staff
                    upstream: http://127.0.0.1:1
                    require: token
                    allow: {groups: [staff]}
                """)
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        #expect(try gateway.request("GET", "/staff/1", headers: [ada.bearer]).status == 403)
        let line = try await Self.line(of: gateway, path: "/staff/1")
        #expect(line["code"] as? String == "not_allowed" && line["user"] as? String == ada.userID)
        #expect(line["tenant"] as? String == "acme" && line["client_id"] as? String == "gatehouse")
        let stranger = ("Authorization", "Bearer \(ada.forged)")
        #expect(try gateway.request("GET", "/staff/2", headers: [stranger]).status == 401)
        let forged = try await Self.line(of: gateway, path: "/staff/2")
        #expect(forged["code"] as? String == "invalid_token" && forged["user"] == nil)
    }

    @Test("An authorization that is refused with a page says code and reason, as other refusals do")
    func refusedAuthorization() async throws {
        let gateway = try await GatewayInProcess.start(
            Self.yaml
                + """

                routes:
                  - {path: /mcp, upstream: 'http://127.0.0.1:1', require: token, resource: {name: Tools, scopes: [read]}}
                """)
        defer { gateway.stop() }
        let asked = try gateway.request("GET", "/oauth2/authorize")
        #expect(asked.status == 400 && asked["content-type"]?.hasPrefix("text/html") == true)
        let line = try await Self.line(of: gateway, path: "/oauth2/authorize")
        #expect(line["code"] as? String == "invalid_request", "\(line)")
        #expect(line["reason"] as? String == "client_unknown", "\(line)")
        let form = [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", gateway.origin)]
        let decided = try gateway.request("POST", "/oauth2/authorize", headers: form, body: "decision=maybe")
        #expect(decided["content-type"]?.hasPrefix("text/html") == true)
        let decision = try await Self.line(of: gateway, path: "/oauth2/authorize", method: "POST")
        #expect(decision["status"] as? Int == decided.status && decision["code"] is String, "\(decision)")
    }

    @Test("A proxied request says who asked, which upstream answered, and how long that took")
    func proxied() async throws {
        let upstream = try RecordingUpstream()
        let gateway = try await GatewayInProcess.start(
            Self.yaml
                + """

                routes:
                  - path: /orders
                    upstream: \(upstream.url)
                    require: token
                """)
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let answer = try gateway.request(
            "POST", "/orders/17?access=1&page=2",
            headers: [
                ada.bearer, ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
            ], body: "hello")
        #expect(answer.status == 200)
        let line = try await Self.line(of: gateway, path: "/orders/17?access=1&page=2", method: "POST")
        #expect(line["route"] as? String == "/orders" && line["status"] as? Int == 200)
        #expect(line["user"] as? String == ada.userID && line["tenant"] as? String == "acme")
        #expect(line["client_id"] as? String == "gatehouse" && line["client"] as? String == "127.0.0.1")
        #expect(line["trace_id"] as? String == "0af7651916cd43dd8448eb211c80319c")
        #expect(line["request_id"] as? String == upstream.requests.last?["x-request-id"])
        #expect(line["bytes_in"] as? Int == 5 && line["bytes_out"] as? Int == answer.body.count)
        #expect(line["upstream"] as? String == upstream.url.replacingOccurrences(of: "http://", with: ""))
        #expect((line["duration_ms"] as? Double ?? -1) >= (line["upstream_ms"] as? Double ?? .infinity))
        #expect(line["protocol"] as? String == "HTTP/1.1" && line["code"] == nil && line["session"] == nil)
        #expect((line["time"] as? String)?.hasSuffix("Z") == true)
    }

    @Test("Refusals say code and reason, pages and the API their kind; credentials are cut")
    func refusals() async throws {
        let gateway = try await GatewayInProcess.start(Self.yaml)
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        _ = try gateway.request("GET", "/nothing?ticket=tkt_0123456789abcdef")
        let nothing = try await Self.line(of: gateway, path: "/nothing?ticket=tkt_0123…")
        #expect(nothing["route"] as? String == "none" && nothing["code"] as? String == "not_found")
        _ = try gateway.request("GET", "/")
        let page = try await Self.line(of: gateway, path: "/")
        #expect(page["route"] as? String == "page" && page["status"] as? Int == 200)
        _ = try gateway.request("GET", "/api/auth/me", headers: [("Authorization", "Bearer \(ada.forged)")])
        let refused = try await Self.line(of: gateway, path: "/api/auth/me")
        #expect(refused["route"] as? String == "api" && refused["status"] as? Int == 401)
        #expect(refused["code"] as? String == "invalid_token" && refused["reason"] as? String == "signature_invalid")
        _ = try gateway.request("DELETE", "/api/session/\(ada.sessionID)", headers: [ada.bearer])
        let ended = try await Self.line(
            of: gateway, path: "/api/session/\(ada.sessionID.prefix(8))…", method: "DELETE")
        #expect(ended["session"] as? String == String(ada.sessionID.prefix(12)) && ended["status"] as? Int == 204)
        let login = try await Self.line(of: gateway, path: "/api/auth/login", method: "POST")
        #expect(login["user"] as? String == ada.userID && login["status"] as? Int == 200)
        _ = try gateway.raw("GET / HTTP/1.1\r\nHost: h\r\nBad Header: x\r\n\r\n")
        let isThere = try await eventually {
            try Self.lines(of: gateway).contains { $0["code"] as? String == "bad_message" && $0["path"] == nil }
        }
        #expect(isThere)
        let text = try String(contentsOf: gateway.directory.appendingPathComponent("access.jsonl"), encoding: .utf8)
        for secret in [ada.token, ada.refreshToken, ada.sessionID, ada.sessionSecret, TestUser.ada.password] {
            #expect(!text.contains(secret))
        }
    }

    @Test("A request to the API names the session that it has opened, a refused one its reason, a 502 its upstream")
    func names() async throws {
        let port = try SocketAddressing.unusedPort()
        let gateway = try await GatewayInProcess.start(
            Self.yaml + "\nroutes: [{path: /dead, upstream: 'http://127.0.0.1:\(port)', require: none}]\n")
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let session = String(ada.sessionID.prefix(12))
        let shown = "/api/session/\(ada.sessionID.prefix(8))…"
        _ = try gateway.request("GET", "/api/session/current", headers: [("Session-Secret", ada.sessionSecret)])
        _ = try gateway.request("POST", "/api/session/\(ada.sessionID)/ticket", headers: [ada.bearer])
        _ = try gateway.request("GET", "/api/session/\(ada.sessionID)", headers: [ada.bearer])
        for (path, method) in [
            ("/api/session/current", "GET"), (shown + "/ticket", "POST"), (shown, "GET"),
        ] {
            let line = try await Self.line(of: gateway, path: path, method: method)
            #expect(line["session"] as? String == session && line["user"] as? String == ada.userID, "\(line)")
        }
        _ = try gateway.request("GET", "/api/session/\(ada.sessionID)?x=1", headers: [bob.bearer])
        let refused = try await Self.line(of: gateway, path: shown + "?x=1")
        #expect(refused["code"] as? String == "session_mismatch", "\(refused)")
        #expect(refused["reason"] as? String == "session_not_opened" && refused["user"] as? String == bob.userID)
        #expect(try gateway.request("GET", "/dead").status == 502)
        #expect(try await Self.line(of: gateway, path: "/dead")["upstream"] as? String == "127.0.0.1:\(port)")
    }

    @Test("A socket's line comes when it ends, with status 101 and its bytes")
    func sockets() async throws {
        let gateway = try await GatewayInProcess.start(Self.yaml)
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let target = "/api/runtime/agent?access_token=\(ada.token)&session_id=\(ada.sessionID)"
        var socket: WebSocketProbe? = try WebSocketProbe(gateway, target)
        #expect(socket?.answer.status == 101)
        _ = try socket?.next()
        #expect(try !Self.lines(of: gateway).contains { $0["status"] as? Int == 101 })
        socket = nil
        let shown = "/api/runtime/agent?access_token=\(ada.token.prefix(8))…&session_id=\(ada.sessionID.prefix(8))…"
        let line = try await Self.line(of: gateway, path: shown)
        #expect(line["status"] as? Int == 101 && line["route"] as? String == "api")
        #expect(line["session"] as? String == String(ada.sessionID.prefix(12)))
        #expect((line["bytes_out"] as? Int ?? 0) > 0)
    }

    @Test("The file is readable for its owner only, and is opened again by its name after a rotation")
    func rotation() async throws {
        let gateway = try await GatewayProcess.start(
            "log:\n  access: access.jsonl\naudit:\n  file: audit.jsonl\n")
        defer { gateway.stop() }
        let (log, old) = (
            gateway.directory.appendingPathComponent("access.jsonl"),
            gateway.directory.appendingPathComponent("access.1")
        )
        let mode = try FileManager.default.attributesOfItem(atPath: log.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        _ = try gateway.request("GET", "/first")
        _ = try await Self.line(of: gateway, path: "/first")
        try FileManager.default.moveItem(at: log, to: old)
        let audit = gateway.directory.appendingPathComponent("audit.jsonl")
        let oldAudit = gateway.directory.appendingPathComponent("audit.1")
        try FileManager.default.moveItem(at: audit, to: oldAudit)
        Foundation.kill(gateway.processID, SIGHUP)
        let isOpened = try await eventually {
            FileManager.default.fileExists(atPath: log.path) && FileManager.default.fileExists(atPath: audit.path)
        }
        #expect(isOpened)
        _ = try gateway.request("GET", "/second")
        _ = try await Self.line(of: gateway, path: "/second")
        #expect(try !String(contentsOf: old, encoding: .utf8).contains("/second"))
        gateway.stop()
        let verify = { (files: [URL]) in
            try GatewayProcess.run(
                ["audit", "verify"] + files.map(\.path), in: gateway.directory, stateful: false)
        }
        #expect(try verify([oldAudit]).status == 0 && verify([audit]).status == 0)
        let both = try verify([oldAudit, audit])
        #expect(both.status == 0 && both.output.hasPrefix("ok"), "\(both.errors)")
        #expect(try verify([audit, oldAudit]).status == 1)
    }
}
