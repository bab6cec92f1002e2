import Foundation
import Testing

/// How refusals look: those of the operator's API to its callers, and those of every listener in the audit log.
@Suite(.blocking) struct AdminRefusalTests {
    /// The lines of refusals, by the id of the request. To be read when the gateway has stopped.
    private static func refusals(of gateway: GatewayInProcess) throws -> [String: [String: Any]] {
        let text = try String(contentsOf: gateway.directory.appendingPathComponent("audit.jsonl"), encoding: .utf8)
        return try text.split(separator: "\n").reduce(into: [:]) { found, text in
            let line = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
            guard line["event"] as? String == "request.refused", let id = line["request_id"] as? String else { return }
            found[id] = line
        }
    }

    @Test("Refusals of the public API have method, path and route in the audit log")
    func publicAPI() async throws {
        let gateway = try await GatewayInProcess.start("audit: {file: audit.jsonl}", users: [.ada])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let forged = ("Authorization", "Bearer \(ada.forged)")
        let wrong = ["email": TestUser.ada.email, "password": "not this one"]
        let asked = [
            ("GET", "/api/auth/me", "credentials_missing", try gateway.request("GET", "/api/auth/me")),
            ("GET", "/api/auth/me", "invalid_token", try gateway.request("GET", "/api/auth/me", headers: [forged])),
            (
                "POST", "/api/auth/login", "invalid_credentials",
                try gateway.request("POST", "/api/auth/login", json: wrong)
            ),
            ("DELETE", "/api/auth/login", "method_not_allowed", try gateway.request("DELETE", "/api/auth/login")),
        ]
        gateway.stop()
        let lines = try Self.refusals(of: gateway)
        for (method, path, code, answer) in asked {
            let line = try #require(lines[answer.json["request_id"] as? String ?? ""], "\(answer.text)")
            #expect(line["code"] as? String == code && line["method"] as? String == method, "\(line)")
            #expect(line["path"] as? String == path && line["route"] as? String == "api", "\(line)")
        }
    }

    @Test("Whatever the operator's API refuses is a problem document, and a line of the audit log with its method")
    func operatorsAPI() async throws {
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin("audit: {file: audit.jsonl}")
        defer { gateway.stop() }
        let (port, bearer) = (admin.port ?? 0, "Authorization: Bearer \(admin.token ?? "")\r\n")
        let (own, level) = ("Host: localhost\r\n", "/api/admin/log-level")
        let sent: [(method: String, path: String, more: String, status: Int, code: String)] = [
            ("GET", "/api/admin/overview", "\(own)\r\n", 401, "credentials_missing"),
            ("GET", "/api/admin/overview", "\(own)\(bearer)\(bearer)\r\n", 400, "invalid_request"),
            ("HEAD", "/api/admin/overview", "Host: evil.example\r\n\(bearer)\r\n", 421, ""),
            ("GET", "/api/admin/overview", "Host: evil.example\r\n\(bearer)\r\n", 421, "invalid_request"),
            ("PUT", level, "\(own)\(bearer)Content-Length: 99999\r\n\r\n", 413, "payload_too_large"),
            ("PUT", level, "\(own)\(bearer)Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411, "invalid_request"),
            ("PUT", level, "\(own)\(bearer)Content-Length: 2\r\n\r\n{}", 415, "unsupported_media_type"),
            (
                "PUT", level, "\(own)\(bearer)Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", 415,
                "unsupported_media_type"
            ),
            // Taken as JSON, and refused for what it says.
            (
                "PUT", level,
                "\(own)\(bearer)Content-Type: Application/JSON; charset=utf-8\r\nContent-Length: 2\r\n\r\n[]", 400,
                "invalid_request"
            ),
        ]
        var expected: [(id: String, method: String, path: String, code: String)] = []
        for request in sent {
            let socket = try RawSocket(port: port)
            try socket.send("\(request.method) \(request.path) HTTP/1.1\r\n\(request.more)")
            let answer = try socket.response(toHead: request.method == "HEAD")
            #expect(answer.status == request.status, "\(request): \(answer.text)")
            #expect(answer["content-type"] == "application/problem+json", "\(request): \(answer.text)")
            guard request.method != "HEAD" else { continue }
            #expect(answer.json["code"] as? String == request.code, "\(request): \(answer.text)")
            expected.append(
                (answer.json["request_id"] as? String ?? "", request.method, request.path, request.code))
        }
        // A head that can't be read has no path.
        let broken = try RawSocket(port: port)
        try broken.send("GET /api/admin/overview HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n")
        let refused = try broken.response()
        #expect(refused.status == 400 && refused.json["code"] as? String == "bad_message", "\(refused.text)")
        // The other endpoints are for probes and terminals.
        let metrics = try RawSocket(port: port)
        try metrics.send("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        let text = try metrics.response()
        #expect(text.status == 421 && text["content-type"]?.hasPrefix("text/plain") == true)

        gateway.stop()
        let lines = try Self.refusals(of: gateway)
        for request in expected {
            let line = try #require(lines[request.id], "\(request)")
            #expect(line["method"] as? String == request.method && line["path"] as? String == request.path, "\(line)")
            #expect(line["code"] as? String == request.code && line["route"] as? String == "none", "\(line)")
        }
        let line = try #require(lines[refused.json["request_id"] as? String ?? ""])
        #expect(line["method"] == nil && line["path"] == nil, "\(line)")
    }
}
