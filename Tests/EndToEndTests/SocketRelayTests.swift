import Foundation
import GatewayForTests
import Testing

/// Sockets and streams that end at an upstream: relayed bit by bit, under the same lease.
@Suite(.blocking) struct SocketRelayTests {
    private static func yaml(_ upstream: RecordingUpstream, more: String = "") -> String {
        let routes = [("ws", "token+session"), ("token", "token"), ("secret", "session"), ("open", "none")].map {
            "  - {path: /\($0.0), upstream: '\(upstream.url)', require: \($0.1), websocket: true}"
        }
        return """
            routes:
            \(routes.joined(separator: "\n"))
              - {path: /events, upstream: '\(upstream.url)', require: token}
              - {path: /own, upstream: '\(upstream.url)', require: token+session, lease: true}
              - {path: /kept, upstream: '\(upstream.url)', require: session, lease: true}
              - {path: /leased, upstream: '\(upstream.url)', require: token, lease: true}
            \(more)
            """
    }

    private static func upgrade(_ request: RecordedRequest, _ more: String = "") -> String {
        // The key is the probe's own, which is the RFC's.
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(WebSocketProbe.accept)\r\n\(more)\r\n"
    }

    /// Answers by the last segment of the path.
    private static let script: RecordingUpstream.Script = { request, stream in
        let name = request.target.split(separator: "?").first?.split(separator: "/").last ?? ""
        switch name {
        case "mirror":
            try stream.send(upgrade(request))
            while case let bytes = try stream.readSome(), !bytes.isEmpty {
                try stream.send([0x82, UInt8(min(bytes.count, 125))] + bytes.prefix(125))
            }
        case "early": try stream.send(Array(upgrade(request).utf8) + [0x81, 5] + Array("early".utf8))
        case "chat": try stream.send(upgrade(request, "Sec-WebSocket-Protocol: chat\r\n"))
        case "evil": try stream.send(upgrade(request, "Sec-WebSocket-Protocol: evil\r\n"))
        case "extension": try stream.send(upgrade(request, "Sec-WebSocket-Extensions: permessage-deflate\r\n"))
        case "accept": try stream.send(upgrade(request).replacing("s3pPLM", with: "s3pPLm"))
        case "bare": try stream.send("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
        case "h2c": try stream.send(upgrade(request).replacing(": websocket", with: ": h2c"))
        case "garbage": try stream.send("nonsense\r\n\r\n")
        case "200": try stream.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        case "403": try stream.send("HTTP/1.1 403 No\r\nX-Why: because\r\nContent-Length: 2\r\n\r\nno")
        case "302":
            try stream.send("HTTP/1.1 302 Go\r\nLocation: /x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\ngo\r\n0\r\n\r\n")
        case "closes":
            try stream.send(Array(upgrade(request).utf8) + [0x88, 6, 0x0D, 0x80] + Array("done".utf8))
            return .close
        case "cut":
            try stream.send(Array(upgrade(request).utf8) + [0x82, 100, 1, 2, 3])
            return .close
        case "half": try stream.send(Array(upgrade(request).utf8) + [0x82, 100, 1, 2, 3])
        case "slow":
            Thread.sleep(forTimeInterval: 1)
            try stream.send(upgrade(request))
        case "never": break
        case "slowanswer":
            Thread.sleep(forTimeInterval: 1)
            try stream.send(RecordingUpstream.plainAnswer)
        case "slowevents", "events":
            if name == "slowevents" { Thread.sleep(forTimeInterval: 1) }
            try stream.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<600 {
                try stream.send("9\r\ndata: x\n\n\r\n")
                Thread.sleep(forTimeInterval: 0.05)
            }
        case "long":
            try stream.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<300 {
                try stream.send("1\r\nx\r\n")
                Thread.sleep(forTimeInterval: 0.05)
            }
            try stream.send("0\r\n\r\n")
        default: try stream.send(RecordingUpstream.plainAnswer)
        }
        _ = try stream.drain()
        return .close
    }

    @Test("Bytes pass untouched both ways, with early ones, extensions and close codes; credentials stay here")
    func transparent() async throws {
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.yaml(upstream))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let early = try gateway.opened("/ws/early?\(ada.query)")
        #expect(try early.next()?.text == "early")

        let odd = WebSocketProbe.frame(3, [1, 2], isFinal: false, reserved: 7)
        let mirror = try gateway.socket("/ws/mirror?a=1&\(ada.query)&b=2", extra: odd)
        #expect(try mirror.next()?.payload == odd)
        let seen = try #require(upstream.requests.last)
        #expect(seen.target == "/ws/mirror?a=1&b=2" && seen["x-gatehouse-user"] == ada.userID)
        #expect(!seen.text.contains(ada.token) && !seen.text.contains(ada.sessionID))

        let offer = ("Sec-WebSocket-Protocol", "gatehouse.v1, bearer.\(ada.token), chat, session.\(ada.sessionID)")
        #expect(try gateway.opened("/ws/chat", headers: [offer]).answer["sec-websocket-protocol"] == "chat")
        #expect(upstream.requests.last?["sec-websocket-protocol"] == "gatehouse.v1, chat")
        // A browser that offered subprotocols gives up on an answer without one.
        #expect(try gateway.opened("/ws/mirror", headers: [offer]).answer["sec-websocket-protocol"] == "gatehouse.v1")

        let deflate = ("Sec-WebSocket-Extensions", "permessage-deflate")
        let extended = try gateway.opened("/ws/extension?\(ada.query)", headers: [deflate])
        #expect(extended.answer["sec-websocket-extensions"] == "permessage-deflate")
        #expect(try gateway.opened("/ws/closes?\(ada.query)").closing() == "3456 done")
        #expect(try gateway.opened("/ws/cut?\(ada.query)").socket.readToEnd().count == 5)

        let smuggling = [
            ("Upgrade", "websocket"), ("Connection", "Upgrade, X-Secret, Cookie"), ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", WebSocketProbe.key), ("X-Secret", "1"), ("Cookie", "a=b"),
            ("X-Gatehouse-User", "usr_evil"), ("X_Gatehouse_User", "usr_evil"),
        ]
        #expect(try WebSocketProbe(gateway, "/ws/mirror?\(ada.query)", fields: smuggling).isOpen)
        let stripped = try #require(upstream.requests.last)
        #expect(stripped.all("x-gatehouse-user") == [ada.userID] && !stripped.text.contains("usr_evil"))
        #expect(stripped["x-secret"] == nil && stripped["cookie"] == nil)
    }

    @Test("Only a sound 101 becomes a tunnel; any other answer is passed on; the upstream's connection is closed")
    func upgrades() async throws {
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.yaml(upstream, more: "limits:\n  sockets_per_session: 2"))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        for name in ["evil", "extension", "accept", "bare", "h2c", "garbage"] {
            let frame = WebSocketProbe.frame(1, [0x61])
            let probe = try gateway.socket("/ws/\(name)?\(ada.query)", extra: frame)
            #expect(probe.answer.status == 502 && probe.answer.code == "upstream_unavailable", "\(name)")
            #expect(probe.answer["connection"] == "close", "\(name)")
        }
        for (name, status, body) in [("200", 200, "hi"), ("403", 403, "no"), ("302", 302, "go")] {
            let probe = try gateway.socket("/ws/\(name)?\(ada.query)")
            #expect(probe.answer.status == status && probe.answer.text == body)
            #expect(probe.answer["connection"] == "close" && probe.answer["upgrade"] == nil)
        }
        #expect(try gateway.socket("/ws/403?\(ada.query)").answer["x-why"] == "because")
        #expect(try await eventually { upstream.openConnections == 0 })
        // Ten sockets that never came to be, and two places: both are free.
        let open = try (0..<2).map { _ in try gateway.opened("/ws/mirror?\(ada.query)") }
        #expect(try gateway.socket("/ws/mirror?\(ada.query)").answer.status == 429)
        #expect(open.count == 2)
        upstream.stop()
        let refused = try gateway.socket("/ws/mirror?\(try gateway.login(.bob).query)")
        #expect(refused.answer.status == 502)
    }

    @Test("Each requirement takes its own credentials, a ticket stands for both, and none reads nothing")
    func requirements() async throws {
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.yaml(upstream))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        func status(_ path: String, _ headers: [(String, String)] = []) throws -> Int {
            try gateway.socket(path, headers: headers).answer.status
        }
        #expect(try status("/token/mirror?access_token=\(ada.token)") == 101)
        #expect(try status("/token/mirror", [ada.bearer]) == 101)
        #expect(try status("/token/mirror?ticket=\(try gateway.ticket(ada))") == 101)
        #expect(try status("/ws/mirror?ticket=\(try gateway.ticket(ada))") == 101)
        #expect(try status("/token/mirror") == 401)
        #expect(try status("/token/mirror?access_token=\(ada.token)", [ada.bearer]) == 400)
        #expect(try status("/ws/mirror", [ada.bearer]) == 401)
        #expect(try status("/secret/mirror", [("Session-Secret", ada.sessionSecret)]) == 101)
        #expect(try status("/secret/mirror", [("Cookie", "gatehouse=\(ada.sessionSecret)")]) == 401)
        #expect(try status("/secret/mirror", [("Origin", "https://evil.example")]) == 403)
        #expect(try status("/open/mirror?access_token=a&access_token=b&session_token=c") == 101)
        #expect(upstream.requests.last?.target == "/open/mirror")
        #expect(try status("/open/mirror", [("Authorization", "Bearer \(ada.sessionID)")]) == 101)
        #expect(upstream.requests.last?["authorization"] == nil && upstream.requests.last?["x-gatehouse-user"] == nil)
        #expect(try status("/open/mirror", [("Origin", "https://evil.example")]) == 403)
    }

    @Test("Login closes what was open under the anonymous session with 4409, and only that")
    func anonymous() async throws {
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.yaml(upstream, more: "limits:\n  sockets_per_user: 2"))
        defer { gateway.stop() }
        let guests = try (0..<6).map { _ in
            try gateway.request("POST", "/api/session/create-anonymous").json["session_secret"] as? String ?? ""
        }
        // A cap per user is none on guests: they are different people.
        let open = try guests.map { try gateway.opened("/secret/mirror", headers: [("Session-Secret", $0)]) }
        var (next, secret) = (0, "")
        let best = try shortest(below: 0.2) {
            let login = try gateway.login(.ada, headers: [("Session-Secret", guests[next])])
            #expect(login.outcome == "upgraded")
            let (took, closing) = try seconds { try open[next].closing() }
            #expect(closing == "4409 session_upgraded")
            (next, secret) = (next + 1, login.sessionSecret)
            return took
        }
        #expect(best < 0.2, "\(best) s")
        let hello = WebSocketProbe.frame(1, [0x61])
        try open[5].send(hello)
        #expect(try open[5].next()?.payload == hello)
        #expect(try gateway.opened("/secret/mirror", headers: [("Session-Secret", secret)]).isOpen)
    }

    @Test("Logout closes relayed sockets at the next frame border, cuts streams, and finds what was still on its way")
    func logout() async throws {
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.yaml(upstream))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let whole = try gateway.opened("/ws/mirror?\(ada.query)")
        let byToken = try gateway.opened("/token/mirror", headers: [ada.bearer])
        let half = try gateway.opened("/ws/half?\(ada.query)")
        let get = "HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(ada.token)\r\n\r\n"
        let streams = try ["/events/events", "/leased/long"].map { path in
            let socket = try RawSocket(port: gateway.port)
            try socket.send("GET \(path) \(get)")
            _ = try socket.read(200)
            return socket
        }
        // Two that are admitted, and answered by their upstream only after the logout.
        let late = Running { try gateway.socket("/ws/slow?\(ada.query)").answer }
        let lateAnswers = ["slowevents", "slowanswer"].map { name in
            Running { try gateway.request("GET", "/events/\(name)", headers: [ada.bearer]) }
        }
        let bob = try gateway.login(.bob)
        let others = Running { try gateway.request("GET", "/events/slowanswer", headers: [bob.bearer]) }
        #expect(try await eventually { upstream.requests.count == 9 })
        #expect(try gateway.request("POST", "/api/auth/logout", headers: [ada.bearer]).status == 204)
        let (took, closing) = try seconds { try whole.closing() }
        #expect(closing == "4403 session_ended" && took < .promptly)
        #expect(try ["4403 session_ended", "4401 token_revoked"].contains(byToken.closing()))
        #expect(try half.socket.readToEnd() == [0x82, 100, 1, 2, 3])
        for stream in streams {
            let rest = String(decoding: try stream.readToEnd(), as: UTF8.self)
            #expect(!rest.hasSuffix("0\r\n\r\n"), "cut without the final chunk")
        }
        #expect([401, 403].contains(try late.value()?.status), "no 101 for a session that has ended meanwhile")
        for answer in lateAnswers {
            let refused = try #require(try answer.value())
            #expect(refused.status == 401 && refused.text.contains("invalid_token"))
        }
        #expect(try others.value()?.status == 200)
        #expect(try await eventually { upstream.openConnections == 0 })
    }

    @Test(
        "A session that ends while the upstream thinks opens no socket and begins no stream",
        arguments: ["http", "close"])
    func endedMeanwhile(refusals: String) async throws {
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            Self.yaml(
                upstream,
                more: "websocket: {refusals: \(refusals)}\nserver: {allowed_origins: [https://app.example]}"))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        // A guest of the family: its end revokes no token.
        let guest = LoggedIn(try gateway.request("POST", "/api/session/create", headers: [ada.bearer], json: [:]).json)
        let secret = ("Session-Secret", guest.sessionSecret)
        let both = [ada.bearer, ("Session-Id", guest.sessionID)]
        let origin = ("Origin", "https://app.example")
        let handshakes: [(String, [(String, String)])] = [
            ("/ws/slow", both + [origin]), ("/secret/slow", [secret, origin]),
        ]
        let sockets = handshakes.map { path, headers in
            Running<(Int, String)> {
                let probe = try gateway.socket(path, headers: headers)
                return (probe.answer.status, probe.isOpen ? try probe.closing() ?? "" : probe.answer.text)
            }
        }
        let requests: [(String, [(String, String)])] = [
            ("/own/slowanswer", both), ("/own/slowevents", both), ("/kept/slowanswer", [secret]),
            ("/kept/slowevents", [secret]),
        ]
        let answers = requests.map { path, headers in Running { try gateway.request("GET", path, headers: headers) } }
        #expect(try await eventually { upstream.requests.count == 6 })
        #expect(
            try gateway.request("DELETE", "/api/session/\(guest.sessionID)", headers: [ada.bearer]).status == 204)
        for socket in sockets {
            let (status, text) = try #require(try socket.value())
            #expect(status == (refusals == "close" ? 101 : 403))
            #expect(text.contains(refusals == "close" ? "4403 session_mismatch" : "session_mismatch"))
        }
        for answer in answers {
            let refused = try #require(try answer.value())
            #expect(refused.status == 403 && refused.text.contains("session_mismatch"))
        }
        #expect(try await eventually { upstream.openConnections == 0 })
    }

    @Test("A client that leaves while its upgrade waits takes upstream and place with it")
    func leavesMeanwhile() async throws {
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            Self.yaml(upstream, more: "limits: {sockets_per_session: 1}"))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        do {
            let socket = try RawSocket(port: gateway.port)
            var head = "GET /ws/never?\(ada.query) HTTP/1.1\r\nHost: h\r\n"
            for (name, value) in WebSocketProbe.handshake { head += "\(name): \(value)\r\n" }
            try socket.send(head + "\r\n")
            #expect(try await eventually { upstream.requests.count == 1 })
            #expect(try gateway.socket("/ws/mirror?\(ada.query)").answer.status == 429)
        }
        #expect(try await eventually { upstream.openConnections == 0 })
        #expect(try gateway.opened("/ws/mirror?\(ada.query)").isOpen)
    }

    @Test("Event streams and leased answers end with the token unless its family is refreshed; other answers go on")
    func streams() async throws {
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            Self.yaml(upstream, more: "tokens: {access_token_lifetime: 15m, clock_skew: 0s}"))
        defer { gateway.stop() }
        @Sendable func now() -> Double { Double(gateway.clock.now) / 1_000 }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let cases = [
            ("/events/events", bob), ("/leased/long", bob), ("/events/long", bob), ("/events/events", ada),
            ("/leased/long", ada),
        ]
        let running = cases.map { path, user in
            Running { () -> (Double, String) in
                let socket = try RawSocket(port: gateway.port)
                let head = "GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                try socket.send(head + "Authorization: Bearer \(user.token)\r\n\r\n")
                let text = String(decoding: try socket.readToEnd(), as: UTF8.self)
                return (now(), text)
            }
        }
        #expect(try await eventually { upstream.requests.count == cases.count })
        gateway.clock.advance(by: .seconds(10 * 60))
        let refresh = try gateway.refresh(ada.refreshToken)
        let until = LoggedIn.expiry(of: refresh.json["access_token"] as? String ?? "")
        gateway.clock.advance(by: .seconds(5 * 60 + 1))
        for (time, text) in try running.prefix(2).map({ try $0.value() ?? (0, "") }) {
            #expect(time >= bob.tokenExpiry && time < bob.tokenExpiry + .promptly)
            #expect(text.hasPrefix("HTTP/1.1 200") && !text.hasSuffix("0\r\n\r\n"))
        }
        gateway.clock.advance(by: .seconds(10 * 60))
        for (time, text) in try running.suffix(2).map({ try $0.value() ?? (0, "") }) {
            #expect(time >= until && time < until + .promptly, "extended by the refresh")
            #expect(!text.hasSuffix("0\r\n\r\n"))
        }
        let finished = try running[2].value()?.1 ?? ""
        #expect(finished.hasSuffix("0\r\n\r\n"), "an answer that is no stream is finished")
    }

    @Test("An external Runtime gets the agent's socket behind the same checks; the echo stays here")
    func runtime() async throws {
        let path = "/tmp/gatehouse-runtime-\(UUID().uuidString.prefix(8)).sock"
        defer { unlink(path) }
        let upstream = try RecordingUpstream(unixPath: path) { request, stream in
            try stream.send(Array(Self.upgrade(request).utf8) + [0x81, 2] + Array("hi".utf8))
            _ = try stream.drain()
            return .close
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start("runtime:\n  url: unix:\(path)")
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let probe = try gateway.socket("/api/runtime/agent?\(ada.query)&resume_from=7")
        #expect(try probe.next()?.text == "hi")
        let seen = try #require(upstream.requests.last)
        #expect(seen.target == "/api/runtime/agent?resume_from=7")
        #expect(seen["x-gatehouse-session"] == ada.sessionID && seen["x-gatehouse-user"] == ada.userID)
        #expect(seen["x-gatehouse-assertion"]?.split(separator: ".").count == 3)
        let foreign = "access_token=\(ada.token)&session_id=\(bob.sessionID)"
        #expect(try gateway.socket("/api/runtime/agent?\(foreign)").answer.code == "session_mismatch")
        #expect(upstream.requests.count == 1)
        let echo = try gateway.opened("/api/runtime/echo?\(ada.query)")
        try echo.send(text: "local")
        #expect(try echo.message()?.text == "local")
        _ = try gateway.request("POST", "/api/auth/logout", headers: [ada.bearer])
        #expect(try probe.closing() == "4403 session_ended")
    }
}
