import Foundation
import Testing

/// What of a request reaches an upstream, byte by byte.
@Suite(.blocking) struct ProxyHeaderTests {
    private static let families = [
        "X-Gatehouse-User", "x-gatehouse-anything", "X-GATEHOUSE-ASSERTION", "X-Auth-User", "X-Auth-Request-Email",
        "X-User", "X-User-Id", "X-UserName", "X-Remote-User", "X-Remote-Groups", "X-WebAuth-User", "Remote-User",
        "Remote-Groups", "Forwarded", "X-Forwarded-For", "X-Forwarded-Prefix", "X-Forwarded-User", "X-Forwarded-Uri",
        "X-Real-IP", "X-Original-URL", "X-Original-Method", "X-Rewrite-URL", "X_Auth_User", "X-Auth_User",
        "X.Auth.User",
        "x_gatehouse_user", "X!User", "Content_Length", "Transfer.Encoding", "DPoP", "X-HTTP-Method-Override", "TE",
        "Trailer", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "HTTP2-Settings",
    ]

    private static func routes(_ upstream: RecordingUpstream) -> String {
        """
        routes:
          - {path: /token, upstream: \(upstream.url), require: token}
          - {path: /named, upstream: \(upstream.url), require: token, audience: tokens-only, headers: {X-Api-Key: k1}}
          - {path: /both, upstream: \(upstream.url), require: token+session}
          - {path: /secret, upstream: \(upstream.url), require: session}
          - {path: /open, upstream: \(upstream.url), require: none}
          - {path: /keep, upstream: \(upstream.url), require: token, forward_authorization: true}
          - {path: /strip, upstream: \(upstream.url)/base/, require: none, strip_prefix: true}
        """
    }

    @Test("No field of an identity family, and no alias of one, passes from a client to an upstream")
    func familiesAreStripped() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        for name in Self.families {
            upstream.forget()
            let answer = try gateway.request(
                "GET", "/token/a", headers: [ada.bearer, (name, "evil"), ("X-Kept", "yes")])
            let seen = try #require(upstream.requests.first, "\(name)")
            #expect(answer.status == 200 && !seen.text.contains("evil"), "\(name)")
            #expect(seen["x-kept"] == "yes" && seen["x-gatehouse-user"] == ada.userID, "\(name)")
        }
    }

    @Test("Offers of subprotocols with credentials never pass, also without an upgrade; the others do")
    func offersAreStripped() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let (bearer, session) = ("bearer.\(ada.token)", "session.\(ada.sessionID)")
        // A handshake on a route without `websocket` is a request like others.
        let handshake = [
            ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ]
        for path in ["/open/a", "/token/a", "/both/a", "/keep/a"] {
            for more in [[], handshake] {
                upstream.forget()
                let offers = [
                    ("Sec-WebSocket-Protocol", "chat, \(bearer),\(session) , v2"), ("Sec-WebSocket-Protocol", bearer),
                    (
                        "Sec-WebSocket-Protocol",
                        "Bearer.\(ada.token), SESSION.\(ada.sessionID), \"\(bearer)\", x;\(bearer), x \(session)"
                    ),
                ]
                let answer = try gateway.request(
                    "GET", path, headers: [ada.bearer, ("Session-Id", ada.sessionID)] + more + offers)
                let seen = try #require(upstream.requests.first, "\(path)")
                #expect(answer.status == 200 && seen["sec-websocket-protocol"] == "chat, v2", "\(path): \(seen.text)")
                let text = seen.text.replacingOccurrences(of: "Bearer \(ada.token)", with: "")
                #expect(!text.contains(ada.token) && !text.contains(ada.sessionID), "\(path): \(seen.text)")
            }
        }
    }

    @Test("Fields that Connection names go, framing, Host and what the gateway adds stay")
    func nominatedFields() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        for names in [
            "X-App", "keep-alive, x-app",
            "X-App, X-Forwarded-For, Authorization, Content-Length, Host, X-Gatehouse-User",
        ] {
            upstream.forget()
            let answer = try gateway.raw(
                "POST /token/a HTTP/1.1\r\nHost: h\r\nConnection: \(names)\r\nX-App: v\r\nX-Kept: z\r\n"
                    + "Authorization: Bearer \(ada.token)\r\nContent-Length: 3\r\n\r\nabc")
            let seen = try #require(upstream.requests.first)
            #expect(answer.status == 200 && seen["x-app"] == nil && seen["x-kept"] == "z", "\(names)")
            #expect(seen["content-length"] == "3" && seen.body == Array("abc".utf8) && seen["host"] == "h")
            #expect(seen["x-gatehouse-user"] == ada.userID && seen["x-forwarded-for"] == "127.0.0.1")
        }
        let many = (0..<40).map { "x\($0)" }.joined(separator: ", ")
        #expect(try gateway.raw("GET /open HTTP/1.1\r\nHost: h\r\nConnection: \(many)\r\n\r\n").status == 400)
        #expect(try gateway.request("GET", "/open").status == 200)
    }

    @Test("Credentials and gateway cookies never pass; the rest of the cookies does")
    func credentialsAreStripped() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let cookies =
            "a=1; gatehouse=x; b=2; __Host-gatehouse=y; gatehouse-refresh=z; __Host-gatehouse-refresh=q; gatehouse2=k"
        let sent: [(String, String)] = [
            ada.bearer, ("Session-Id", ada.sessionID), ("Session-Secret", ada.sessionSecret), ("Cookie", cookies),
            ("Cookie", "gatehouse=only"), ("Cookie", "=gatehouse=nameless"),
        ]
        #expect(
            try gateway.request("GET", "/open/a?x=1&access_token=t&ticket=tkt_a&session_id=s&y=2", headers: sent).status
                == 200)
        let open = try #require(upstream.requests.last)
        #expect(open.target == "/open/a?x=1&y=2")
        #expect(open.all("cookie") == ["a=1; b=2; gatehouse2=k"])
        #expect(open.names.isDisjoint(with: ["authorization", "session-id", "session-secret", "x-gatehouse-user"]))

        #expect(
            try gateway.request("GET", "/both/a", headers: [ada.bearer, ("Session-Id", ada.sessionID)]).status == 200)
        let both = try #require(upstream.requests.last)
        #expect(!both.text.contains(ada.token) && !both.text.contains("ses_") && both["x-gatehouse-session"] == nil)

        #expect(try gateway.request("GET", "/keep/a", headers: [ada.bearer]).status == 200)
        #expect(upstream.requests.last?["authorization"] == "Bearer \(ada.token)")
        #expect(try gateway.request("GET", "/both/a?access_token=x", headers: [ada.bearer]).code == "invalid_request")
        #expect(upstream.requests.count == 3)
    }

    @Test("The assertion names the caller and the route's audience, for a minute at most")
    func assertion() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        for (path, audience) in [("/token/a", "/token"), ("/named/a", "tokens-only")] {
            _ = try gateway.request("GET", path, headers: [ada.bearer, ("X-Api-Key", "forged")])
            let seen = try #require(upstream.requests.last)
            let assertion = try #require(seen["x-gatehouse-assertion"])
            let claims = claims(of: assertion)
            #expect(header(of: assertion)["typ"] as? String == "gatehouse-assertion+jwt")
            #expect(claims["aud"] as? String == audience && claims["sub"] as? String == ada.userID)
            let (issued, expires) = (claims["iat"] as? Int ?? 0, claims["exp"] as? Int ?? .max)
            #expect(expires - issued <= 60 && expires > issued)
            let check = try GatewayProcess.run(
                [
                    "token", "verify", assertion, "--jwks", gateway.origin + "/.well-known/jwks.json", "--audience",
                    audience,
                    "--issuer", gateway.origin, "--type", "gatehouse-assertion+jwt",
                ], in: gateway.directory, stateful: false)
            #expect(check.status == 0, "\(check.errors)\(check.output)")
            // It is no access token.
            #expect(
                try gateway.request("GET", "/token/a", headers: [("Authorization", "Bearer \(assertion)")]).status
                    == 401)
        }
        #expect(upstream.requests.last?.all("x-api-key") == ["k1"])
        _ = try gateway.request("GET", "/secret/a", headers: [("Session-Secret", ada.sessionSecret)])
        #expect(upstream.requests.last?["x-gatehouse-user"] == ada.userID)
        let anonymous =
            try gateway.request("POST", "/api/session/create-anonymous").json["session_secret"] as? String ?? ""
        #expect(try gateway.request("GET", "/secret/a", headers: [("Session-Secret", anonymous)]).status == 200)
        #expect(upstream.requests.last?["x-gatehouse-user"] == nil)
    }

    @Test("A sound traceparent passes; any other is replaced, and its tracestate goes with it")
    func tracing() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream))
        defer { gateway.stop() }
        let (zeros, letters, span) = (
            String(repeating: "0", count: 32), String(repeating: "a", count: 32), "b7ad6b7169203331"
        )
        let sound = "00-\(letters)-\(span)-01"
        _ = try gateway.request("GET", "/open", headers: [("traceparent", sound), ("tracestate", "v=1")])
        #expect(upstream.requests.last?.all("traceparent") == [sound] && upstream.requests.last?["tracestate"] == "v=1")
        let unsound = [
            "junk", "00-\(zeros)-\(span)-01", "00-\(letters)-0000000000000000-01", "ff-\(letters)-\(span)-01",
        ]
        for value in unsound + ["\(sound)\r\ntraceparent: \(sound)"] {
            _ = try gateway.raw("GET /open HTTP/1.1\r\nHost: h\r\ntraceparent: \(value)\r\ntracestate: v=1\r\n\r\n")
            let seen = try #require(upstream.requests.last)
            let trace = seen.all("traceparent")
            #expect(
                trace.count == 1 && trace.first?.hasPrefix("00-") == true && trace.first != value
                    && trace.first != sound)
            #expect(trace.first?.hasSuffix("-00") == true, "a trace that begins here is not recorded")
            #expect(seen["tracestate"] == nil)
        }
        let unsampled = "00-\(letters)-\(span)-00"
        _ = try gateway.request("GET", "/open", headers: [("traceparent", unsampled)])
        #expect(upstream.requests.last?.all("traceparent") == [unsampled])
        _ = try gateway.request("GET", "/open")
        #expect(upstream.requests.last?["traceparent"]?.hasSuffix("-00") == true)
    }

    @Test("Forwarded fields are believed from a trusted proxy alone, and rebuilt for the upstream")
    func trustedProxy() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(
            "server: {trusted_proxies: [127.0.0.1, 10.0.0.0/8]}\n" + Self.routes(upstream))
        defer { gateway.stop() }
        func seen(_ fields: [(String, String)]) throws -> RecordedRequest {
            _ = try gateway.request("GET", "/open", headers: fields)
            return try #require(upstream.requests.last)
        }
        let plain = try seen([
            ("X-Forwarded-For", "203.0.113.7, 10.1.2.3"), ("X-Forwarded-Proto", "https"),
            ("X-Forwarded-Host", "shop.example"),
        ])
        #expect(plain["x-forwarded-for"] == "203.0.113.7, 10.1.2.3, 127.0.0.1")
        #expect(plain["x-forwarded-proto"] == "https" && plain["x-forwarded-host"] == "shop.example")
        // A client's own beginning of the chain, however long, does not push out what proxies wrote behind it.
        let long = (0..<60).map { "192.0.2.\($0)" }.joined(separator: ", ")
        #expect(
            try seen([("X-Forwarded-For", long + ", 203.0.113.9")])["x-forwarded-for"]?.hasSuffix(
                "203.0.113.9, 127.0.0.1") == true)
        let doubled = try seen([
            ("X-Forwarded-Proto", "https"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "a\"b"),
        ])
        #expect(doubled["x-forwarded-proto"] == "http" && doubled["x-forwarded-host"] == "127.0.0.1:\(gateway.port)")
    }

    @Test("A path prefix is cut off, a base path put before, a Host made up for HTTP/1.0 clients without one")
    func target() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream), users: [])
        defer { gateway.stop() }
        for (path, target) in [("/strip/x?q=1", "/base/x?q=1"), ("/strip", "/base/"), ("/strip/", "/base/")] {
            _ = try gateway.request("GET", path)
            #expect(upstream.requests.last?.target == target)
        }
        let answer = try gateway.raw("GET /open HTTP/1.0\r\n\r\n")
        #expect(answer.status == 200 && upstream.requests.last?["host"] == "127.0.0.1:\(upstream.port)")
    }

    @Test("An upstream sets no gateway cookie, no hop-by-hop field and no CORS field of its own")
    func answerFields() async throws {
        let upstream = try RecordingUpstream { _, stream in
            try stream.send(
                "HTTP/1.1 200 OK\r\nSet-Cookie: gatehouse=1\r\nSet-Cookie: a=b\r\nset-cookie: __Host-gatehouse-refresh=3; Path=/\r\n"
                    + "Set-Cookie: =gatehouse=2\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nX-Gatehouse-User: x\r\n"
                    + "Access-Control-Allow-Origin: *\r\nServer: s\r\nContent-Length: 0\r\n\r\n")
            return .keep
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream), users: [])
        defer { gateway.stop() }
        let answer = try gateway.request("GET", "/open")
        #expect(answer.all("set-cookie") == ["a=b"] && answer["server"] == "s")
        for name in ["x-hop", "keep-alive", "x-gatehouse-user", "access-control-allow-origin"] {
            #expect(answer[name] == nil, "\(name)")
        }
    }
}
