import BasicsForTests
import Foundation
import GatewayForTests
import Testing

/// The operator's API on the admin listener.
@Suite(.blocking) struct AdminAPITests {
    /// Events until the gateway ends them; sockets send back what they get.
    private static let script: RecordingUpstream.Script = { request, stream in
        guard request.target.hasSuffix("/events") else { return try RecordingUpstream.mirror(request, stream) }
        try stream.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        try stream.send("9\r\ndata: x\n\n\r\n")
        _ = try stream.drain()
        return .close
    }

    // MARK: Who may

    @Test("Only a token with the scope opens it; a page of another origin does not, and the public listener has none")
    func access() async throws {
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin("audit: {file: audit.jsonl}")
        defer { gateway.stop() }
        let anonymous = AdminProbe(port: admin.port)
        var other = anonymous
        other.token = try gateway.login(.ada).token
        var forged = anonymous
        forged.token = try gateway.login(.operations).forged
        for (probe, status, code) in [
            (anonymous, 401, "credentials_missing"), (other, 403, "insufficient_scope"), (forged, 401, "invalid_token"),
        ] {
            for path in ["overview", "sessions", "nothing"] {
                let answer = try probe.request("GET", "/api/admin/\(path)")
                #expect(answer.status == status && answer.json["code"] as? String == code, "\(path) \(answer.text)")
                #expect(answer["www-authenticate"]?.hasPrefix("Bearer") == true)
            }
            let ended = try probe.request("DELETE", "/api/admin/sessions/ses_nobodys-session")
            #expect(ended.status == status)
        }
        let foreign = try admin.request("GET", "/api/admin/overview", headers: [("Origin", "http://evil.example")])
        #expect(foreign.status == 403 && foreign.json["code"] as? String == "origin_refused")
        let own = ("Origin", "http://127.0.0.1:\(admin.port ?? 0)")
        #expect(try admin.request("GET", "/api/admin/overview", headers: [own]).status == 200)
        #expect(try gateway.request("GET", "/api/admin/overview").status == 404)
        #expect(try admin.request("GET", "/openapi-admin.yaml").status == 200)

        let overview = try admin.get("overview")
        #expect(overview["ready"] as? Bool == true && (overview["uptime_seconds"] as? Int ?? -1) >= 0)
        #expect((overview["store"] as? [String: Any])?["kind"] as? String == "sqlite")
        gateway.stop()
        let audit = try String(
            contentsOf: gateway.directory.appendingPathComponent("audit.jsonl"), encoding: .utf8)
        #expect(audit.contains("admin_scope_missing") && audit.contains("/api/admin/sessions/{id}"))
        #expect(!audit.contains("ses_nobodys") && !audit.contains(other.token ?? "-"))
    }

    @Test("A token that was revoked or has expired opens nothing any more")
    func endedTokens() async throws {
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin(
            "tokens: {access_token_lifetime: 60s, clock_skew: 0s}")
        defer { gateway.stop() }
        #expect(try admin.request("GET", "/api/admin/overview").status == 200)
        let second = try gateway.login(.operations)
        _ = try gateway.request("POST", "/api/auth/logout", headers: [second.bearer])
        var revoked = admin
        revoked.token = second.token
        #expect(try revoked.request("GET", "/api/admin/overview").json["code"] as? String == "invalid_token")
        gateway.clock.advance(by: .seconds(61))
        #expect(try admin.request("GET", "/api/admin/overview").json["code"] as? String == "token_expired")
    }

    @Test("Other methods than a path has are refused with those it has")
    func otherMethods() async throws {
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin()
        defer { gateway.stop() }
        for (method, path, allowed) in [
            ("POST", "/healthz", "GET, HEAD"), ("DELETE", "/readyz", "GET, HEAD"), ("PUT", "/metrics", "GET, HEAD"),
            ("POST", "/", "GET, HEAD"), ("GET", "/reload", "POST"),
        ] {
            let answer = try admin.request(method, path)
            #expect(answer.status == 405 && answer["allow"] == allowed, "\(method) \(path)")
        }
        #expect(try admin.request("POST", "/nothing").status == 404)
    }

    @Test(
        "A wrong path, method, parameter or body is refused as a problem document",
        arguments: [
            ("GET", "nothing", "", 404), ("POST", "sessions", "", 405), ("GET", "sessions?limit=0", "", 400),
            ("GET", "sessions?limit=1001", "", 400), ("GET", "sessions?x=1", "", 400),
            ("GET", "sessions?state=ended", "", 400), ("GET", "connections?kind=all", "", 400),
            ("GET", "grants?after=x", "", 400), ("GET", "keys?after=9", "", 400), ("DELETE", "grants/x", "", 404),
            ("GET", "sessions?after=zzz", "", 400), ("GET", "connections?after=zzz", "", 400),
            ("GET", "refusals?after=req_x", "", 400), ("GET", "upstreams?after=zzz", "", 400),
            ("DELETE", "grants/usr_x.grt_y", "", 404), ("DELETE", "connections/req_x", "", 404),
            ("GET", "refusals/req_x", "", 404), ("PUT", "log-level", "[]", 400), ("GET", "config", "", 404),
        ])
    func refused(method: String, path: String, body: String, status: Int) async throws {
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin()
        defer { gateway.stop() }
        let answer = try admin.request(method, "/api/admin/\(path)", body: body.isEmpty ? nil : body)
        #expect(answer.status == status && answer["content-type"] == "application/problem+json", "\(answer.text)")
        #expect((answer.json["request_id"] as? String)?.hasPrefix("req_") == true)
    }

    // MARK: Sessions

    @Test("Sessions are listed page by page and as lines, by user, tenant and state, and never with a secret")
    func sessions() async throws {
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin("limits: {enabled: false}")
        defer { gateway.stop() }
        var wanted: Set<String> = []
        for _ in 0..<7 {
            let made = try gateway.request("POST", "/api/session/create-anonymous")
            wanted.insert(made.json["session_id"] as? String ?? "")
        }
        let (ada, eve) = (try gateway.login(.ada), try gateway.login(.eve))
        let socket = try gateway.opened("/api/runtime/agent?\(ada.query)")
        for limit in [1, 3, 1_000] {
            let found = try admin.all("sessions", limit: limit)
            let ids = found.compactMap { $0["id"] as? String }
            #expect(ids == ids.sorted() && Set(ids).count == ids.count)
            // The operator's own session is the tenth.
            #expect(Set(ids).isSuperset(of: wanted.union([ada.sessionID, eve.sessionID])) && ids.count == 10)
        }
        let lines = try admin.request(
            "GET", "/api/admin/sessions", headers: [("Accept", "application/x-ndjson")])
        #expect(lines["content-type"] == "application/x-ndjson" && lines.text.split(separator: "\n").count == 10)
        let mine = try admin.all("sessions", limit: 5, query: "&user=\(ada.userID)")
        #expect(mine.count == 1 && mine.first?["email"] as? String == TestUser.ada.email)
        #expect(mine.first?["sockets"] as? Int == 1 && mine.first?["state"] as? String == "authenticated")
        #expect(try admin.all("sessions", limit: 2, query: "&state=anonymous").count == 7)
        #expect(try admin.all("sessions", limit: 2, query: "&tenant=other").count == 1)
        #expect(try admin.all("sessions", limit: 2, query: "&tenant=nobody").isEmpty)
        #expect(!lines.text.contains("sec_") && !lines.text.contains("secret"))
        _ = socket
    }

    @Test("Ending a session closes its sockets before the answer, and says in the audit log who did it")
    func endSession() async throws {
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin("audit: {file: audit.jsonl}")
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let (socket, bystander) = (
            try gateway.opened("/api/runtime/agent?\(ada.query)"), try gateway.opened("/api/runtime/agent?\(bob.query)")
        )
        #expect(try admin.request("DELETE", "/api/admin/sessions/\(ada.sessionID)").status == 204)
        #expect(try socket.closing() == "4403 session_ended")
        #expect(try !gateway.isHealthy(ada.token) && gateway.isHealthy(bob.token))
        try bystander.send(WebSocketProbe.frame(9))
        #expect(try bystander.next()?.opcode == 10)
        // It may be asked for again; an id that never was is not found.
        #expect(try admin.request("DELETE", "/api/admin/sessions/\(ada.sessionID)").status == 204)
        let unknown = "ses_" + String(repeating: "A", count: 22)
        #expect(try admin.request("DELETE", "/api/admin/sessions/\(unknown)").status == 404)
        #expect(try admin.all("sessions", limit: 10, query: "&user=\(ada.userID)").isEmpty)
        gateway.stop()
        let audit = try String(
            contentsOf: gateway.directory.appendingPathComponent("audit.jsonl"), encoding: .utf8)
        let lines = audit.split(separator: "\n").filter { $0.contains(#""event":"session.ended""#) }
        #expect(lines.contains { $0.contains(#""operator":"usr_"#) && $0.contains(ada.sessionID.prefix(12)) })
        #expect(!audit.contains(ada.sessionID))
    }

    // MARK: Connections

    @Test("Sockets, relays and streams are listed with their owner and end, and each can be ended alone")
    func connections() async throws {
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin(
            """
            routes:
              - {path: /own, upstream: "\(upstream.url)", require: token+session, websocket: true}
              - {path: /open, upstream: "\(upstream.url)", require: none, websocket: true}
            """)
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let agent = try gateway.opened("/api/runtime/agent?\(ada.query)")
        let relay = try gateway.opened("/own/echo?\(ada.query)")
        let open = try gateway.opened("/open/echo")
        let stream = try RawSocket(port: gateway.port)
        try stream.send(
            "GET /own/events HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(ada.token)\r\n"
                + "Session-Id: \(ada.sessionID)\r\n\r\n")
        #expect(try await eventually { try admin.all("connections", limit: 1).count == 4 })
        let found = try admin.all("connections", limit: 3)
        func entry(_ kind: String, _ route: String) throws -> [String: Any] {
            try #require(found.first { $0["kind"] as? String == kind && $0["route"] as? String == route }, "\(found)")
        }
        let (socket, relayed, free, events) = (
            try entry("socket", "api"), try entry("relay", "/own"), try entry("relay", "/open"),
            try entry("stream", "/own")
        )
        for owned in [socket, relayed, events] {
            #expect(owned["user_id"] as? String == ada.userID && owned["tenant_id"] as? String == "acme")
            #expect(owned["session"] as? String == String(ada.sessionID.prefix(12)))
            #expect(owned["client"] as? String == "127.0.0.1" && owned["ends_at"] is String, "\(owned)")
        }
        #expect(free["user_id"] == nil && free["ends_at"] == nil)
        #expect(try admin.all("connections", limit: 2, query: "&kind=relay").count == 2)
        #expect(try admin.all("connections", limit: 2, query: "&user=\(ada.userID)").count == 3)
        func end(_ entry: [String: Any]) throws -> Int {
            try admin.request("DELETE", "/api/admin/connections/\(entry["id"] as? String ?? "")").status
        }
        #expect(try end(relayed) == 204 && relay.closing() == "4403 ended_by_operator")
        #expect(try end(relayed) == 404)
        try agent.send(WebSocketProbe.frame(9))
        #expect(try agent.next()?.opcode == 10)
        #expect(try end(socket) == 204 && agent.closing() == "4403 ended_by_operator")
        #expect(try end(free) == 204 && open.closing() == "4403 ended_by_operator")
        #expect(try end(events) == 204)
        // Cut: the last chunk does not come.
        let bytes = try stream.readToEnd()
        #expect(bytes.count > 0 && !bytes.suffix(7).elementsEqual("\r\n0\r\n\r\n".utf8))
        #expect(try gateway.isHealthy(ada.token), "the session and its token are as they were")
        #expect(try await eventually { try admin.all("connections", limit: 1).isEmpty })
    }

    // MARK: Refusals, keys, upstreams

    @Test("Recent refusals are listed newest first with their reasons, and without a credential")
    func refusals() async throws {
        let port = try SocketAddressing.unusedPort()
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin(
            "routes: [{path: /o, upstream: 'http://127.0.0.1:\(port)', require: token}]")
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let forged = try gateway.request(
            "GET", "/o/1?access_token=x", headers: [("Authorization", "Bearer \(ada.forged)")])
        let dead = try gateway.request("GET", "/o/2", headers: [ada.bearer])
        #expect(dead.status == 502)
        let foreign = try gateway.request(
            "GET", "/api/session/\(ada.sessionID)", headers: [try gateway.login(.bob).bearer])
        #expect(foreign.status == 403)
        let found = try admin.all("refusals", limit: 2)
        #expect(
            found.map { $0["request_id"] as? String }
                == [foreign, dead, forged].map { $0.json["request_id"] as? String })
        let (last, middle, first) = (found[0], found[1], found[2])
        #expect(first["code"] as? String == "invalid_request" && first["route"] as? String == "/o", "\(first)")
        #expect(middle["code"] as? String == "upstream_unavailable" && middle["user"] as? String == ada.userID)
        #expect(
            middle["status"] as? Int == 502 && middle["method"] as? String == "GET"
                && middle["path"] as? String == "/o/2")
        #expect(last["code"] as? String == "session_mismatch" && last["route"] as? String == "api", "\(last)")
        let text = try admin.request("GET", "/api/admin/refusals").text
        #expect(!text.contains(ada.forged) && !text.contains(ada.sessionID))
        let id = dead.json["request_id"] as? String ?? ""
        #expect(try admin.get("refusals/\(id)")["request_id"] as? String == id)

        let upstreams = try #require(try admin.get("upstreams")["upstreams"] as? [[String: Any]])
        #expect(
            upstreams.count == 1 && upstreams[0]["up"] as? Bool == false && upstreams[0]["route"] as? String == "/o")
        #expect((upstreams[0]["consecutive_failures"] as? Int ?? 0) > 0)
        let keys = try #require(try admin.get("keys")["keys"] as? [[String: Any]])
        #expect(
            keys.count == 1 && keys[0]["state"] as? String == "active" && keys[0]["algorithm"] as? String == "ES256")
        #expect(try admin.get("overview")["upstreams_down"] as? Int == 1)
    }

    // MARK: Reloads

    @Test("A reload decides from the next request on whether the reason of a refusal is told")
    func explain() async throws {
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin()
        defer { gateway.stop() }
        for explains in [false, true, false] {
            try await gateway.change(to: "errors: {explain: \(explains)}\n")
            let answer = try admin.request("DELETE", "/api/admin/grants/x")
            #expect(answer.status == 404 && answer.json["reason"] as? String == (explains ? "no_grant" : nil))
        }
    }

    // MARK: Hostile input

    @Test(
        "A head or body that is malformed, too long or late ends the connection and nothing else",
        arguments: [
            ("GET /api/admin/overview HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", 400),
            ("GET /api/admin/overview HTTP/1.1\r\nX: \(String(repeating: "a", count: 20_000))\r\nHost: h\r\n\r\n", 431),
            ("PUT /api/admin/log-level HTTP/1.1\r\nHost: h\r\nContent-Length: 99999\r\n\r\n", 413),
            ("PUT /api/admin/log-level HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
            ("GET /api/admin/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 401),
            // A name that an attacker has made to lead here.
            ("GET /api/admin/overview HTTP/1.1\r\nHost: evil.example:9180\r\n\r\n", 421),
            ("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
            ("GET /metrics HTTP/1.0\r\n\r\n", 200),
        ])
    func hostile(request: String, status: Int) async throws {
        let (gateway, admin) = try await GatewayInProcess.startWithAdmin()
        defer { gateway.stop() }
        let socket = try RawSocket(port: admin.port ?? 0)
        try socket.send(request)
        #expect(try socket.response().status == status)
        #expect(try admin.request("GET", "/api/admin/overview").status == 200)
    }
}
