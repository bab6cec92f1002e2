import BasicsForTests
import Foundation
import GatewayForTests
import Testing

/// Sockets and streams that end at an upstream: relayed bit by bit, under the same lease.
@Suite(.blocking) struct SocketRelayTests {
    static func yaml(_ upstream: RecordingUpstream, more: String = "") -> String {
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

    static func upgrade(_ request: RecordedRequest, _ more: String = "") -> String {
        // The key is the probe's own, which is the RFC's.
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(WebSocketProbe.accept)\r\n\(more)\r\n"
    }

    /// Answers by the last segment of the path.
    static let script: RecordingUpstream.Script = { request, stream in
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

    /// What a test opens when the slow answers may come. Where it does not, they wait for a minute.
    final class Turnstile: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)

        func open() { semaphore.signal() }

        func pass() {
            if semaphore.wait(timeout: .now() + 60) == .success { semaphore.signal() }
        }
    }

    /// The script, whose slow answers come a second after the turnstile has been opened.
    static func slowScript(behind turnstile: Turnstile) -> RecordingUpstream.Script {
        { request, stream in
            if request.target.contains("/slow") { turnstile.pass() }
            return try script(request, stream)
        }
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
