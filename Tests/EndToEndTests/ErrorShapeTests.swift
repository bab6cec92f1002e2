import Foundation
import Testing

/// How refusals look, and what is refused for its form alone.
@Suite(.blocking) struct ErrorShapeTests {
    @Test("A refusal is a problem document with a closed set of members, and 401 always brings a challenge")
    func problem() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let answers = [
            try gateway.request("GET", "/api/auth/me"), try gateway.me("x"), try gateway.request("GET", "/api/x"),
            try gateway.request("GET", "/api/auth/login"), try gateway.request("POST", "/api/auth/login", json: [1]),
            try gateway.refresh("ref_x"), try gateway.request("GET", "/nothing"),
            try gateway.attemptLogin(TestUser(email: "a@b.c", password: "x", tenant: "")),
        ]
        for answer in answers {
            #expect(Set(answer.json.keys) == ["type", "title", "status", "code", "detail", "request_id"])
            #expect(answer.json["status"] as? Int == answer.status)
            #expect(answer.json["request_id"] as? String == answer["x-request-id"])
            #expect(answer["content-type"] == "application/problem+json" && answer["cache-control"] == "no-store")
            #expect((answer["www-authenticate"]?.hasPrefix("Bearer") == true) == (answer.status == 401))
        }
        #expect(answers[0].code == "credentials_missing" && answers[0]["www-authenticate"]?.contains("error") == false)
        for field in ["Basic YTpi", "Bearer", "Digest x", ""] {
            let answer = try gateway.request("GET", "/api/auth/me", headers: [("Authorization", field)])
            expectRefused(answer, 401, "credentials_missing", field)
        }
    }

    @Test("The reason is told only where the configuration wants it", arguments: [true, false])
    func explain(enabled: Bool) async throws {
        let gateway = try await GatewayInProcess.start("errors:\n  explain: \(enabled)\n", users: [.ada])
        defer { gateway.stop() }
        let token = try gateway.login(.ada).token
        let forged = try gateway.me("\(token.dropLast(6))AAAAAA")
        #expect(forged.json["reason"] as? String == (enabled ? "signature_invalid" : nil))
        #expect(try gateway.me("a.b.c").json["reason"] as? String == (enabled ? "malformed" : nil))
        #expect(try gateway.isHealthy(token))
    }

    @Test("A token comes in one carrier: twice, or in the query, is 400")
    func carriers() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let twice = try gateway.request("GET", "/api/auth/me", headers: [ada.bearer, ada.bearer])
        expectRefused(twice, 400, "invalid_request")
        for path in ["/api/auth/me", "/api/session", "/.well-known/jwks.json"] {
            for name in ["access_token", "access%5Ftoken"] {
                let answer = try gateway.request("GET", "\(path)?\(name)=\(ada.token)")
                expectRefused(answer, 400, "invalid_request", path)
                #expect(!answer.text.contains(ada.token))
            }
        }
        #expect(try gateway.isHealthy(ada.token))
    }

    @Test("Bodies are read strictly: unknown, doubled and mistyped members, other documents, too deep, too large")
    func bodies() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let routes: [(String, String, [(String, String)])] = [
            ("POST", "/api/session/create-anonymous", []), ("POST", "/api/session/create", [ada.bearer]),
            ("PATCH", "/api/session/\(ada.sessionID)/upgrade", [ada.bearer, HeldSession(ada).field]),
            ("POST", "/api/session/\(ada.sessionID)/ticket", [ada.bearer]),
            ("DELETE", "/api/session/\(ada.sessionID)", [ada.bearer]), ("POST", "/api/auth/login", []),
            ("POST", "/api/auth/refresh", []), ("POST", "/api/auth/logout", [ada.bearer]),
            ("POST", "/api/auth/password", [ada.bearer]),
        ]
        let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        for (method, path, headers) in routes {
            func send(_ body: String) throws -> RawResponse {
                try gateway.request(
                    method, path, headers: headers + [("Content-Type", "application/json")], body: body)
            }
            expectRefused(try send(#"{"nonsense":1}"#), 400, "unknown_member", path)
            let doubled = #"{"deliver":"body","deliver":"body"}"#
            for broken in [#"{"a":"#, "[]", "null", doubled, "{} {}", deep, "\u{FEFF}{}"] {
                expectRefused(try send(broken), 400, "invalid_request", "\(path) \(broken.prefix(20))")
            }
            expectRefused(try send(#"{"x":"\#(String(repeating: "a", count: 66_000))"}"#), 413, "payload_too_large")
        }
        let login = [#"{"email":["a"],"password":"b"}"#, #"{"email":"a@b.c","password":["b"]}"#, #"{"email":"a@b.c"}"#]
        for body in login + [#"{"email":"a@b.c","password":"\#(String(repeating: "x", count: 1_025))"}"#] {
            let answer = try gateway.request(
                "POST", "/api/auth/login", headers: [("Content-Type", "application/json")], body: body)
            expectRefused(answer, 400, "invalid_request", body)
        }
        #expect(try gateway.isHealthy(ada.token))
        expectStatus(try gateway.current(ada.sessionSecret), 200)
    }

    @Test("A head of a megabyte is refused without being read to its end")
    func heads() async throws {
        let gateway = try await GatewayInProcess.start("", users: [])
        defer { gateway.stop() }
        let filler = String(repeating: "a", count: 1 << 20)
        let heads = [("GET /api/x HTTP/1.1\r\nHost: x\r\nX: \(filler)\r\n\r\n", 431), ("GET /\(filler)", 414)]
        for (text, status) in heads {
            let socket = try RawSocket(port: gateway.port)
            try? socket.send(text)
            expectRefused(try socket.response(), status, "header_too_large")
        }
        expectStatus(try gateway.request("POST", "/api/session/create-anonymous"), 200)
    }
}
