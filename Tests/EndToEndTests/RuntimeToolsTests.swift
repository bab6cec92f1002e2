import Foundation
import GatewayForTests
import Testing

/// The embedded Runtime as a server of the Model Context Protocol (`runtime.mcp`).
@Suite(.blocking) struct RuntimeToolsTests {
    @Test(
        "The SDK lists and calls the Runtime's intents, sees progress, and resumes a broken stream without a second run",
        .enabled(if: Program.pythonHas("mcp, httpx2"), "needs python3 with mcp"), arguments: ["legacy", "auto"])
    func official(_ mode: String) async throws {
        let realm = HeldRealm()
        let gateway = try await GatewayInProcess.start(ToolCaller.on, realms: [realm])
        defer { gateway.stop() }
        // Asked once the stream has been resumed.
        let release = try RecordingUpstream { _, stream in
            realm.letGo()
            try stream.send(RecordingUpstream.plainAnswer)
            return .close
        }
        defer { release.stop() }
        let ada = TestUser.ada
        let result = try Program.run(
            "timeout",
            [
                "120", "python3", Program.script("mcp_tools.py"), gateway.origin, ada.email, ada.password, mode,
                release.url,
            ])
        let json = try JSONSerialization.jsonObject(with: result.output) as? [String: Any]
        let found = try #require(json, "\(result.errors)")
        let tools = found["tools"] as? [String] ?? []
        #expect(tools.contains("echo") && tools.contains("artifact.put") && tools.contains("held"))
        #expect((found["echo"] as? [String: String]) == ["hello": "world"])
        #expect((found["structured"] as? [String: String]) == ["hello": "world"])
        #expect(found["progress"] as? [Double] == [0, 1])
        #expect(found["put"] as? Int == 1 && found["same"] as? Bool == true && found["unknown"] as? Int == -32602)
        #expect((found["clash"] as? [Any])?.first as? Bool == true)
        #expect((found["clash"] as? [Any])?.last as? String == "version_conflict")
        #expect((found["version"] as? String == "2026-07-28") == (mode == "auto"))
        if mode == "legacy" {
            #expect(found["cuts"] as? Int == 1 && (found["held"] as? [String: Int]) == ["runs": 1])
        }
        // The token opens nothing else.
        let token = found["token"] as? String ?? ""
        for path in ["/api/auth/me", "/api/session", "/api/auth/tokens"] {
            expectStatus(try gateway.request("GET", path, headers: [("Authorization", "Bearer \(token)")]), 401)
        }
    }

    @Test("Off by default: there is nothing at /mcp")
    func off() async throws {
        let gateway = try await GatewayInProcess.start()
        defer { gateway.stop() }
        expectStatus(try gateway.request("POST", "/mcp", body: "{}"), 404)
        expectStatus(try gateway.request("GET", "/.well-known/oauth-protected-resource/mcp"), 404)
    }

    @Test("It is a resource like every other: metadata, challenge, its tokens alone, its origins alone")
    func resource() async throws {
        let gateway = try await GatewayInProcess.start(ToolCaller.on)
        defer { gateway.stop() }
        let metadata = try gateway.request("GET", "/.well-known/oauth-protected-resource/mcp")
        #expect(metadata.json["resource"] as? String == gateway.origin + "/mcp")
        #expect(metadata.json["scopes_supported"] as? [String] == ["intents"])
        let refused = try gateway.request("POST", "/mcp", body: "{}")
        #expect(refused.status == 401 && refused["www-authenticate"]?.contains("resource_metadata=") == true)
        #expect(refused["www-authenticate"]?.contains("scope=\"intents\"") == true)
        let ada = try gateway.login(.ada)
        expectStatus(try gateway.request("POST", "/mcp", headers: [ada.bearer], body: "{}"), 401)
        let caller = try ToolCaller(gateway, ada)
        let session = try caller.begin()
        expectStatus(try caller.post(ToolCaller.call("1"), session + [("Origin", "https://evil.example")]), 403)
        expectStatus(try caller.gateway.request("POST", "/mcp/more", headers: [], body: "{}"), 404)
    }

    @Test("A preflight allows the fields that it asks for, as at every other resource, and to allowed origins alone")
    func preflight() async throws {
        let gateway = try await GatewayInProcess.start(
            ToolCaller.on + "\nserver: {allowed_origins: [\"https://app.example\"]}")
        defer { gateway.stop() }
        func ask(_ origin: String) throws -> RawResponse {
            try gateway.request(
                "OPTIONS", "/mcp",
                headers: [
                    ("Origin", origin), ("Access-Control-Request-Method", "POST"),
                    ("Access-Control-Request-Headers", "mcp-param-region,authorization"),
                ])
        }
        let allowed = try ask("https://app.example")
        #expect(allowed.status == 204)
        #expect(allowed["access-control-allow-headers"] == "mcp-param-region,authorization")
        #expect(try ask("https://evil.example")["access-control-allow-headers"] == nil)
    }

    @Test("A session belongs to its owner, a call with the same id runs once, and DELETE ends the session")
    func sessions() async throws {
        let gateway = try await GatewayInProcess.start(ToolCaller.on)
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let (mine, theirs) = (try ToolCaller(gateway, ada), try ToolCaller(gateway, bob))
        let session = try mine.begin()
        let first = try mine.post(ToolCaller.call("7"), session)
        #expect(first.status == 200 && first["content-type"] == "text/event-stream")
        #expect(first.text.contains("id: call.n7\ndata:\n\n") && first.text.contains(#"{\"a\":1}"#), "\(first.text)")
        let again = try mine.post(ToolCaller.call("7", "echo", #"{"a":2}"#), session)
        #expect(again.text.contains(#"{\"a\":1}"#) && !again.text.contains(#"{\"a\":2}"#))
        let list = try mine.post(#"{"jsonrpc":"2.0","id":"x","method":"tools/list"}"#, session)
        #expect(list.status == 200 && list.text.contains("artifact.get") && list.json["id"] as? String == "x")
        expectStatus(try mine.post(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, session), 202)
        // Everybody else gets what an unknown session gets.
        let foreign = try theirs.post(ToolCaller.call("1"), session)
        let unknown = try theirs.post(ToolCaller.call("1"), [("Mcp-Session-Id", "ses_nothing")] + session.dropFirst())
        let ids = [foreign, unknown].map { $0.json["request_id"] as? String ?? "?" }
        #expect(foreign.status == 404 && unknown.status == 404)
        #expect(
            foreign.text.replacingOccurrences(of: ids[0], with: "")
                == unknown.text.replacingOccurrences(of: ids[1], with: ""))
        expectStatus(try mine.post(ToolCaller.call("1"), session + [session[0]]), 400)
        expectStatus(try mine.post(ToolCaller.call("1"), [session[1]]), 400)
        // The gateway's own session is the one that people see.
        let id = session[0].1
        let seen = try gateway.request("GET", "/api/session/\(id)", headers: [ada.bearer])
        #expect(seen.status == 200 && seen.json["state"] as? String == "authenticated")
        func end(_ caller: ToolCaller) throws -> RawResponse {
            try gateway.request("DELETE", "/mcp", headers: [("Authorization", "Bearer \(caller.token)")] + session)
        }
        expectStatus(try end(theirs), 404)
        expectStatus(try end(mine), 204)
        expectStatus(try mine.post(ToolCaller.call("8"), session), 404)
        expectStatus(try end(mine), 404)
        let gone = try gateway.request("GET", "/api/session/\(id)", headers: [ada.bearer])
        #expect(gone.status == 410 || gone.json["state"] as? String == "ended", "\(gone.status) \(gone.text)")
    }

    @Test("What is no message, too long, too deep or unknown is refused, and nothing runs")
    func hostile() async throws {
        let gateway = try await GatewayInProcess.start(ToolCaller.on)
        defer { gateway.stop() }
        let caller = try ToolCaller(gateway, try gateway.login(.ada))
        let session = try caller.begin()
        let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        let table: [(String, Int, Int)] = [
            ("", 400, -32700), ("{", 400, -32700), ("[]", 400, -32600), ("[1]", 400, -32600), ("null", 400, -32600),
            ("\u{FEFF}{}", 400, -32700), ("{}", 400, -32600),
            (#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, 400, -32600),
            (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 400, -32600),
            (#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, 400, -32600),
            (#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, 400, -32600),
            (#"{"jsonrpc":"2.0","id":"","method":"ping"}"#, 400, -32600),
            (#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, 400, -32700),
            (#"{"jsonrpc":"2.0","id":1,"method":7}"#, 400, -32600),
            (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, 400, -32600),
            (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":\#(deep)}}"#, 400, -32700),
            (#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, 200, -32601),
            (#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#, 200, -32601),
            (#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, 400, -32600),
            (ToolCaller.call("1", "no.such"), 200, -32602), (ToolCaller.call("1", "echo", "[]"), 200, -32602),
            (#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, 200, -32602),
        ]
        for (body, status, code) in table {
            let answer = try caller.post(body, session)
            let error = answer.json["error"] as? [String: Any]
            #expect(answer.status == status && error?["code"] as? Int == code, "\(body.prefix(80)): \(answer.text)")
        }
        expectStatus(
            try caller.post(
                ToolCaller.call("1", "echo", "{\"x\":\"\(String(repeating: "a", count: 70_000))\"}"), session),
            413)
        expectStatus(
            try gateway.request(
                "POST", "/mcp", headers: [("Authorization", "Bearer \(caller.token)"), ("Content-Type", "text/plain")],
                body: ToolCaller.call("1")), 415)
        for method in ["PUT", "PATCH", "HEAD"] {
            let answer = try gateway.request(
                method, "/mcp", headers: [("Authorization", "Bearer \(caller.token)")] + session)
            expectStatus(answer, 405)
        }
        let version = [session[0], ("MCP-Protocol-Version", "2024-01-01")]
        let old = try caller.post(ToolCaller.call("1"), version)
        #expect(old.status == 400 && old.text.contains("2025-11-25"), "\(old.text)")
        expectStatus(try caller.post(ToolCaller.call("1"), session + [session[1]]), 400)
        // None of them has run: the stream is where it was.
        let done = try caller.post(ToolCaller.call("5"), session)
        #expect(done.text.contains("\"result\""))
        let events = try gateway.request(
            "POST", "/mcp",
            headers: [("Authorization", "Bearer \(caller.token)"), ("Content-Type", "application/json")] + session,
            body: ToolCaller.call("6", "session.describe", "{}"))
        #expect(events.status == 200 && events["content-type"] == "application/json")
        // The oldest revision has batches, of which `initialize` is never a part.
        let oldest = [session[0], ("MCP-Protocol-Version", "2025-03-26")]
        let batch = try caller.post(
            #"[\#(ToolCaller.call("20")),{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":21,"method":"ping"},"#
                + #"{"jsonrpc":"2.0","id":22,"method":"initialize"}]"#, oldest)
        let answers = try JSONSerialization.jsonObject(with: Data(batch.text.utf8)) as? [[String: Any]]
        #expect(answers?.map { $0["id"] as? Int } == [20, 21, 22] && batch.text.contains("-32600"))
        let flood =
            "[" + Array(repeating: #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, count: 17).joined(separator: ",") + "]"
        expectStatus(try caller.post(flood, oldest), 400)
    }

    @Test("In the revision without sessions every request stands alone, and its fields must say what its body says")
    func alone() async throws {
        let gateway = try await GatewayInProcess.start(ToolCaller.on)
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let (caller, other) = (try ToolCaller(gateway, ada), try ToolCaller(gateway, bob))
        let meta =
            #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#
        let body = #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"session.describe",\#(meta)}}"#
        let fields = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call")]
        let named = fields + [("Mcp-Name", "session.describe")]
        func session(_ answer: RawResponse) -> String {
            answer.text.components(separatedBy: "ses_").dropFirst().first.map { String($0.prefix(22)) } ?? ""
        }
        let first = try caller.post(body, named)
        let second = try caller.post(body, named + [("Mcp-Session-Id", "ses_anything")])
        #expect(first.status == 200 && first["mcp-session-id"] == nil && !first.text.contains("id: "), "\(first.text)")
        #expect(first.text.contains(#""resultType":"complete""#))
        #expect(!session(first).isEmpty && session(first) == session(second))
        #expect(session(try other.post(body, named)) != session(first))
        for wrong in [fields, fields + [("Mcp-Name", "echo")], [fields[0], ("Mcp-Method", "ping"), named[2]]] {
            let answer = try caller.post(body, wrong)
            #expect(answer.status == 400 && answer.text.contains("-32020"), "\(answer.text)")
        }
        let bare = try caller.post(ToolCaller.call("1"), named)
        #expect(bare.status == 400 && bare.text.contains("-32602"))
        let unknown = #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{\#(meta)}}"#
        let none = try caller.post(unknown, [fields[0], ("Mcp-Method", "initialize")])
        #expect(none.status == 404 && none.text.contains("-32601"))
        expectStatus(
            try gateway.request("GET", "/mcp", headers: [("Authorization", "Bearer \(caller.token)"), fields[0]]), 405)
        // A session that its owner has ended is replaced by a new one.
        let id = "ses_" + session(first)
        expectStatus(try gateway.request("DELETE", "/api/session/\(id)", headers: [ada.bearer]), 204)
        let third = session(try caller.post(body, named))
        #expect(!third.isEmpty && third != session(first))
    }
}
