import BasicsForTests
import Foundation
import GatewayForTests
import Testing

/// What ends relayed sockets and streams.
extension SocketRelayTests {
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
        let turnstile = Turnstile()
        let upstream = try RecordingUpstream(script: Self.slowScript(behind: turnstile))
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
        // Some that are admitted, and answered by their upstream only after the logout.
        let late = Running { try gateway.socket("/ws/slow?\(ada.query)").answer }
        let lateAnswers = ["slowevents", "slowanswer"].map { name in
            Running { try gateway.request("GET", "/events/\(name)", headers: [ada.bearer]) }
        }
        let bob = try gateway.login(.bob)
        let others = Running { try gateway.request("GET", "/events/slowanswer", headers: [bob.bearer]) }
        #expect(try await eventually { upstream.requests.count == 9 })
        #expect(try gateway.request("POST", "/api/auth/logout", headers: [ada.bearer]).status == 204)
        turnstile.open()
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
        // Only the one that answered another user is kept, for the next request.
        #expect(try await eventually { upstream.openConnections == 1 })
    }

    @Test(
        "A session that ends while the upstream thinks opens no socket and begins no stream",
        arguments: ["http", "close"])
    func endedMeanwhile(refusals: String) async throws {
        let turnstile = Turnstile()
        let upstream = try RecordingUpstream(script: Self.slowScript(behind: turnstile))
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
        turnstile.open()
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

    @Test("The end of a session alone cuts no answer that is neither a stream nor leased; a revocation does")
    func plainAnswers() async throws {
        let upstream = try RecordingUpstream(script: Self.script)
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.yaml(upstream))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let guest = LoggedIn(try gateway.request("POST", "/api/session/create", headers: [ada.bearer], json: [:]).json)
        let owned = "Authorization: Bearer \(ada.token)\r\nSession-Id: \(guest.sessionID)"
        let answers = try [("/ws/long", owned), ("/secret/long", "Session-Secret: \(guest.sessionSecret)")].map {
            let socket = try RawSocket(port: gateway.port)
            try socket.send("GET \($0) HTTP/1.1\r\nHost: x\r\n\($1)\r\n\r\n")
            _ = try socket.read(200)
            return socket
        }
        #expect(
            try gateway.request("DELETE", "/api/session/\(guest.sessionID)", headers: [ada.bearer]).status == 204)
        // What comes within a second and a half: a session's end would have cut them at once.
        for answer in answers { #expect(try answer.read(180).count == 180) }
        #expect(try gateway.request("POST", "/api/auth/logout", headers: [ada.bearer]).status == 204)
        let rest = String(decoding: try answers[0].readToEnd(), as: UTF8.self)
        #expect(!rest.hasSuffix("0\r\n\r\n"), "cut without the final chunk")
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
}
