import Foundation
import Testing

/// Every refusal of an upgrade, in the order of the checks.
@Suite(.blocking) struct SocketRefusalTests {
    private struct Case {
        var name: String
        var query = ""
        var headers: [(String, String)] = []
        var fields: [(String, String)]?
        var requestLine: String?
        var status: Int
        var code: String
    }

    private func check(_ cases: [Case], _ gateway: any GatewayUnderTest, path: String) throws {
        for item in cases {
            let probe = try WebSocketProbe(
                gateway, path + item.query, headers: item.headers, fields: item.fields, requestLine: item.requestLine)
            #expect(probe.answer.status == item.status && probe.answer.code == item.code, "\(item.name)")
            #expect(probe.answer["connection"]?.lowercased() == "close", "\(item.name)")
            #expect(probe.answer["cache-control"] == "no-store", "\(item.name)")
            #expect(probe.answer["content-type"] == "application/problem+json", "\(item.name)")
            if item.status == 426 {
                #expect(
                    probe.answer["sec-websocket-version"] == "13" && probe.answer["upgrade"] == "websocket",
                    "\(item.name)")
            }
            if item.status == 401 {
                let challenge = probe.answer["www-authenticate"] ?? ""
                #expect(challenge.hasPrefix("Bearer"), "\(item.name)")
                #expect(challenge.contains("invalid_token") == (item.code == "invalid_token"), "\(item.name)")
            }
            #expect(try probe.socket.isClosedByPeer(), "\(item.name)")
        }
    }

    @Test("The handshake is judged first, and strictly", arguments: ["/api/runtime/agent", "/api/runtime/echo"])
    func handshake(path: String) async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let query = "?" + ada.query
        func with(_ name: String, _ value: String?, _ status: Int) -> Case {
            Case(
                name: "\(name): \(value ?? "none")", query: query,
                fields: WebSocketProbe.handshake(name, value), status: status,
                code: status == 426 ? "upgrade_required" : "invalid_request")
        }
        var cases: [Case] = ["7", "0", "99", "13, 8", ""].map { with("Sec-WebSocket-Version", $0, 426) }
        cases.append(with("Sec-WebSocket-Version", nil, 426))
        cases += ["", "AAAA", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZTE=", "!!!!IHNhbXBsZSBub25jZQ=="]
            .map { with("Sec-WebSocket-Key", $0, 400) }
        cases.append(with("Sec-WebSocket-Key", nil, 400))
        cases += ["h2c", "TLS/1.0", "websocket, h2c", "foo"].map { with("Upgrade", $0, 400) }
        cases.append(with("Upgrade", nil, 426))
        cases += ["keep-alive", "close"].map { with("Connection", $0, 400) }
        cases.append(with("Connection", nil, 400))
        for (name, value) in [("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", WebSocketProbe.key)] {
            let isVersion = name == "Sec-WebSocket-Version"
            cases.append(
                Case(
                    name: "\(name) twice", query: query, headers: [(name, value)], status: isVersion ? 426 : 400,
                    code: isVersion ? "upgrade_required" : "invalid_request"))
        }
        for line in ["POST \(path)\(query) HTTP/1.1", "GET \(path)\(query) HTTP/1.0"] {
            cases.append(Case(name: line, requestLine: line, status: 400, code: "invalid_request"))
        }
        try check(cases, gateway, path: path)
        for value in ["WebSocket", "websocket\t"] {
            let fields = WebSocketProbe.handshake("Upgrade", value)
            #expect(try WebSocketProbe(gateway, path + query, fields: fields).isOpen)
        }
        let list = WebSocketProbe.handshake("Connection", "keep-alive, Upgrade")
        #expect(try WebSocketProbe(gateway, path + query, fields: list).isOpen)
    }

    @Test("Another method is 405, with any fields", arguments: ["/api/runtime/agent", "/api/runtime/echo"])
    func methods(path: String) async throws {
        let gateway = try await GatewayInProcess.start(users: [])
        defer { gateway.stop() }
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
            let answer = try gateway.request(method, path + "?session_token=x", body: method == "POST" ? "{}" : nil)
            #expect(
                answer.status == 405 && answer.code == "method_not_allowed" && answer["allow"] == "GET", "\(method)")
        }
        #expect(try gateway.request("HEAD", path).status == 405)
        #expect(try gateway.request("GET", path).status == 426)
    }

    @Test("Origin, legacy parameter, carriers, presence, swapped kinds, token, session: in this order")
    func order() async throws {
        let gateway = try await GatewayInProcess.start("server:\n  allowed_origins: [https://app.example]")
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let bob = try gateway.login(.bob)
        let good = "?" + ada.query
        let foreign = [("Origin", "https://evil.example")]
        let token = "?access_token=\(ada.token)"
        let session = "&session_id=\(ada.sessionID)"
        let cases = [
            Case(
                name: "version before Origin", headers: foreign,
                fields: WebSocketProbe.handshake("Sec-WebSocket-Version", "8"), status: 426, code: "upgrade_required"),
            Case(
                name: "Origin before legacy", query: "?session_token=x", headers: foreign, status: 403,
                code: "origin_refused"),
            Case(name: "null Origin", query: good, headers: [("Origin", "null")], status: 403, code: "origin_refused"),
            Case(
                name: "suffix", query: good, headers: [("Origin", "https://app.example.evil")], status: 403,
                code: "origin_refused"),
            Case(
                name: "port", query: good, headers: [("Origin", "https://app.example:444")], status: 403,
                code: "origin_refused"),
            Case(
                name: "case", query: good, headers: [("Origin", "HTTPS://app.example")], status: 403,
                code: "origin_refused"),
            Case(
                name: "userinfo", query: good, headers: [("Origin", "https://u@app.example")], status: 403,
                code: "origin_refused"),
            Case(
                name: "two Origins", query: good,
                headers: [("Origin", "https://app.example"), ("Origin", "https://app.example")], status: 403,
                code: "origin_refused"),
            Case(
                name: "legacy before carriers", query: good + "&session_token=x" + session, status: 400,
                code: "session_token_unsupported"),
            Case(name: "legacy alone", query: "?session%5Ftoken=", status: 400, code: "session_token_unsupported"),
            Case(name: "token twice", query: good + "&access_token=\(ada.token)", status: 400, code: "invalid_request"),
            Case(
                name: "token twice, once encoded", query: good + "&access%5Ftoken=x", status: 400,
                code: "invalid_request"),
            Case(name: "query and header", query: good, headers: [ada.bearer], status: 400, code: "invalid_request"),
            Case(
                name: "two session carriers", query: good, headers: [("Session-Id", ada.sessionID)], status: 400,
                code: "invalid_request"),
            Case(
                name: "query and subprotocol", query: good,
                headers: [("Sec-WebSocket-Protocol", "gatehouse.v1, bearer.\(ada.token)")], status: 400,
                code: "invalid_request"),
            Case(name: "ticket beside a token", query: good + "&ticket=tkt_x", status: 400, code: "invalid_request"),
            Case(name: "two tickets", query: "?ticket=tkt_x&ticket=tkt_y", status: 400, code: "invalid_request"),
            Case(
                name: "Authorization twice", headers: [ada.bearer, ada.bearer, ("Session-Id", ada.sessionID)],
                status: 400, code: "invalid_request"),
            Case(
                name: "carriers before presence", query: token + "&access_token=x", status: 400,
                code: "invalid_request"),
            Case(name: "malformed query", query: "?access_token=%zz" + session, status: 400, code: "invalid_request"),
            Case(name: "nothing", status: 401, code: "credentials_missing"),
            Case(name: "token only", query: token, status: 401, code: "credentials_missing"),
            Case(name: "session only", query: "?x=1" + session, status: 401, code: "credentials_missing"),
            Case(name: "empty token", query: "?access_token=" + session, status: 401, code: "credentials_missing"),
            Case(name: "empty ticket", query: "?ticket=", status: 401, code: "credentials_missing"),
            Case(
                name: "other separators", query: token + ";session_id=\(ada.sessionID)", status: 401,
                code: "credentials_missing"),
            Case(
                name: "array form", query: "?access_token[]=\(ada.token)" + session, status: 401,
                code: "credentials_missing"),
            Case(
                name: "cookie is no carrier", headers: [("Cookie", "gatehouse=\(ada.sessionSecret)")], status: 401,
                code: "credentials_missing"),
            Case(
                name: "presence before swapped", headers: [("Authorization", "Bearer \(ada.sessionID)")], status: 401,
                code: "credentials_missing"),
            Case(
                name: "swapped", query: "?access_token=\(ada.sessionID)&session_id=\(ada.token)", status: 400,
                code: "credentials_swapped"),
            Case(
                name: "secret as token", query: "?access_token=\(ada.sessionSecret)" + session, status: 400,
                code: "credentials_swapped"),
            Case(
                name: "refresh token as session", query: token + "&session_id=\(ada.refreshToken)", status: 400,
                code: "credentials_swapped"),
            Case(name: "token as ticket", query: "?ticket=\(ada.token)", status: 400, code: "credentials_swapped"),
            Case(
                name: "swapped before token", query: "?access_token=x&session_id=\(ada.refreshToken)", status: 400,
                code: "credentials_swapped"),
            Case(name: "odd token", query: "?access_token=x" + session, status: 401, code: "invalid_token"),
            Case(name: "NUL", query: "?access_token=%00" + session, status: 401, code: "invalid_token"),
            Case(
                name: "token before session", query: "?access_token=x&session_id=ses_x", status: 401,
                code: "invalid_token"),
            Case(
                name: "signature", query: "?access_token=\(ada.token.dropLast(6))AAAAAA" + session, status: 401,
                code: "invalid_token"),
            Case(name: "unknown ticket", query: "?ticket=abc", status: 401, code: "invalid_token"),
            Case(
                name: "foreign session", query: token + "&session_id=\(bob.sessionID)", status: 403,
                code: "session_mismatch"),
        ]
        try check(cases, gateway, path: "/api/runtime/agent")
        try check(cases, gateway, path: "/api/runtime/echo")
        #expect(try gateway.socket("/api/runtime/agent" + good, headers: [("Origin", "https://app.example")]).isOpen)
        #expect(try gateway.socket("/api/runtime/agent" + good, headers: [("Session-Secret", ada.token)]).isOpen)
    }

    @Test("Unknown, foreign, anonymous and odd sessions are refused in the same bytes")
    func identical() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let anonymous = try gateway.request("POST", "/api/session/create-anonymous").json["session_id"] as? String
        let dead = try gateway.login(.ada)
        _ = try gateway.request("POST", "/api/auth/logout", headers: [dead.bearer])
        let ids = [
            try gateway.login(.bob).sessionID, try gateway.login(.eve).sessionID, anonymous ?? "", dead.sessionID,
            "ses_AAAAAAAAAAAAAAAAAAAAAA", "abc", "%22%27",
        ]
        let answers = try ids.map { id -> String in
            let probe = try gateway.socket("/api/runtime/agent?access_token=\(ada.token)&session_id=\(id)")
            let requestID = probe.answer["x-request-id"] ?? "?"
            let fields = probe.answer.fields.filter { $0.name != "Date" }.map { "\($0.name): \($0.value)" }
            return "\(probe.answer.status) \(fields) \(probe.answer.text)".replacing(requestID, with: "ID")
        }
        #expect(Set(answers).count == 1, "\(answers)")
        #expect(answers.first?.hasPrefix("403 ") == true)
        #expect(try gateway.opened("/api/runtime/agent?" + ada.query).isOpen)
    }

    @Test("Caps per session and user answer 429, and places come back")
    func caps() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  sockets_per_session: 3\n  sockets_per_user: 4")
        defer { gateway.stop() }
        let (one, two) = (try gateway.login(.ada), try gateway.login(.ada))
        let bob = try gateway.login(.bob)
        for _ in 0..<2 {
            var open = try (0..<3).map { _ in try gateway.opened("/api/runtime/echo?" + one.query) }
            let capped = try gateway.socket("/api/runtime/agent?" + one.query)
            #expect(capped.answer.status == 429 && capped.answer.code == "rate_limited")
            #expect(capped.answer["retry-after"] != nil && capped.answer["connection"] == "close")
            open.append(try gateway.opened("/api/runtime/agent?" + two.query))
            #expect(try gateway.socket("/api/runtime/agent?" + two.query).answer.status == 429)
            #expect(try gateway.socket("/api/runtime/agent?" + bob.query).isOpen)
            // Refused ones took no place: each that leaves makes room for exactly one.
            for probe in open { try probe.send(WebSocketProbe.close(1000)) }
            for probe in open { #expect(try probe.closing() == "1000 ") }
        }
    }

    @Test("With refusals: close, a script of an allowed Origin reads why in a close frame")
    func closeFrames() async throws {
        let gateway = try await GatewayInProcess.start(
            "server:\n  allowed_origins: [https://app.example]\nwebsocket:\n  refusals: close")
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let origin = [("Origin", "https://app.example")]
        let cases = [
            ("", "4401 credentials_missing"), ("?access_token=x&session_id=ses_x", "4401 invalid_token"),
            ("?access_token=\(ada.token)&session_id=ses_x", "4403 session_mismatch"),
            ("?session_token=x", "4400 session_token_unsupported"), ("?ticket=a&ticket=b", "4400 invalid_request"),
        ]
        for (query, expected) in cases {
            let hello = WebSocketProbe.frame(1, Array("hello".utf8))
            let probe = try gateway.socket("/api/runtime/agent" + query, headers: origin, extra: hello)
            #expect(probe.isOpen && probe.answer["sec-websocket-accept"] == WebSocketProbe.accept)
            #expect(try probe.closing() == expected)
            #expect(try probe.socket.isClosedByPeer())
        }
        #expect(try gateway.socket("/api/runtime/agent").answer.status == 401)
        #expect(try gateway.socket("/api/runtime/agent", headers: [("Origin", "https://e")]).answer.status == 403)
        let old = WebSocketProbe.handshake("Sec-WebSocket-Version", "8")
        #expect(try WebSocketProbe(gateway, "/api/runtime/agent", headers: origin, fields: old).answer.status == 426)
        #expect(try gateway.opened("/api/runtime/agent?" + ada.query, headers: origin).isOpen)
    }
}
