import Foundation
import Testing

/// Cross-origin questions about routes, and where refused page views are sent.
@Suite(.blocking) struct CORSRouteTests {
    private static func routes(_ upstream: RecordingUpstream) -> String {
        """
        server: {allowed_origins: ["https://app.example"]}
        routes:
          - {path: /gate, upstream: \(upstream.url), require: token, methods: [GET, PUT]}
          - {path: /theirs, upstream: \(upstream.url), require: token, cors: upstream, methods: [GET, PUT]}
          - {path: /secret, upstream: \(upstream.url), require: session}
          - {path: /page, upstream: \(upstream.url), require: token, login_url: /sign-in}
        """
    }

    private static let preflight = [
        ("Access-Control-Request-Method", "PUT"), ("Access-Control-Request-Headers", "x-custom, authorization"),
    ]

    @Test("Preflights are answered here without credentials, also where a route lists its methods")
    func gatewayAnswers() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream))
        defer { gateway.stop() }
        let good = try gateway.request(
            "OPTIONS", "/gate/x", headers: [("Origin", "https://app.example")] + Self.preflight)
        #expect(good.status == 204 && good["access-control-allow-origin"] == "https://app.example")
        #expect(good["access-control-allow-credentials"] == "true" && good["vary"] == "Origin")
        #expect(good["access-control-allow-headers"] == "x-custom, authorization")
        let foreign = try gateway.request(
            "OPTIONS", "/gate/x", headers: [("Origin", "https://evil.example")] + Self.preflight)
        #expect(foreign.status == 204 && foreign["access-control-allow-origin"] == nil)
        #expect(upstream.requests.isEmpty)
        let refused = try gateway.request("GET", "/gate/x", headers: [("Origin", "https://app.example")])
        #expect(refused.status == 401 && refused["access-control-allow-origin"] == "https://app.example")
        let ada = try gateway.login(.ada)
        let served = try gateway.request("GET", "/gate/x", headers: [ada.bearer, ("Origin", "https://app.example")])
        #expect(served.status == 200 && served["access-control-allow-origin"] == "https://app.example")
    }

    @Test("With cors: upstream the upstream answers, preflights included, and gets no identity with them")
    func upstreamAnswers() async throws {
        let upstream = try RecordingUpstream { _, stream in
            try stream.send(
                "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: https://any.example\r\nContent-Length: 0\r\n\r\n")
            return .keep
        }
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream))
        defer { gateway.stop() }
        let answer = try gateway.request(
            "OPTIONS", "/theirs", headers: [("Origin", "https://any.example")] + Self.preflight)
        #expect(answer.status == 200 && answer["access-control-allow-origin"] == "https://any.example")
        #expect(upstream.requests.last?.names.contains("x-gatehouse-user") == false)
        #expect(try gateway.request("PUT", "/theirs", headers: [("Origin", "https://any.example")]).status == 401)
        #expect(upstream.requests.count == 1)
    }

    @Test("A cookie alone lets no foreign page act on a route")
    func cookiesAcrossSites() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream))
        defer { gateway.stop() }
        let cookie = ("Cookie", "gatehouse=\(try gateway.login(.ada).sessionSecret)")
        for fields in [[("Origin", "https://evil.example")], [("Origin", "null")], [("Sec-Fetch-Site", "cross-site")]] {
            #expect(try gateway.request("POST", "/secret", headers: [cookie] + fields).code == "origin_refused")
        }
        #expect(upstream.requests.isEmpty)
        #expect(
            try gateway.request("POST", "/secret", headers: [cookie, ("Origin", "https://app.example")]).status == 200)
        #expect(
            try gateway.request("GET", "/secret", headers: [cookie, ("Sec-Fetch-Site", "cross-site")]).status == 200)
    }

    @Test("A refused page view is sent to log in and back; nothing else is")
    func loginURL() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.routes(upstream), users: [])
        defer { gateway.stop() }
        let html = ("Accept", "text/html,*/*;q=0.8")
        let page = try gateway.request("GET", "/page/a?x=1", headers: [html])
        #expect(
            page.status == 303 && page["location"] == "/sign-in?return_to=/page/a%3Fx%3D1"
                && page["cache-control"] == "no-store")
        #expect(try gateway.request("GET", "/page/a", headers: [html, ("Sec-Fetch-Mode", "navigate")]).status == 303)
        // Where it leads is a path of this origin in every spelling, or the request is refused.
        for (target, location) in [
            ("/page/%2e%2e//evil.example", nil), ("/page/.//evil.example", nil), ("//evil.example/page", nil),
            ("/page\\evil.example", nil), ("/page/%09/evil.example", nil), ("/page/%5Cevil.example", nil),
            ("/page/@evil.example", "/page/%40evil.example"), ("/page/%40a%3Ab", "/page/%40a%3Ab"),
            ("/page/x?return_to=//evil.example", "/page/x%3Freturn_to%3D//evil.example"),
            ("/page/x?a&return_to=/b&access_token=x", nil), ("/page/x?session_id=x&b", "/page/x%3Fb"),
        ] as [(String, String?)] {
            let answer = try gateway.request("GET", target, headers: [html])
            #expect(answer["location"] == location.map { "/sign-in?return_to=" + $0 }, "\(target)")
            #expect(answer.status == (location == nil ? 400 : 303), "\(target)")
        }
        let others: [(String, [(String, String)])] = [
            ("GET", [("Accept", "application/json")]), ("POST", [html]), ("GET", [html, ("Sec-Fetch-Mode", "cors")]),
            ("GET", [html, ("Connection", "Upgrade"), ("Upgrade", "websocket")]), ("GET", []),
        ]
        for (method, fields) in others {
            #expect(try gateway.request(method, "/page/a", headers: fields).status == 401)
        }
    }
}
