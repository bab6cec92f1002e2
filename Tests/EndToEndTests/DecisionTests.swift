import Foundation
import Testing

/// `/api/auth/verify`, asked as the proxies in front ask it.
@Suite(.blocking) struct DecisionTests {
    private static let routes = """
        errors: {explain: true}
        routes:
          - {path: /, require: none}
          - {path: /orders, require: token, scopes: ["orders:read"]}
          - {path: /admin, require: token, scopes: [admin]}
          - {path: /own, require: token+session}
          - {path: /secret, require: session}
          - {path: /get, require: token, methods: [GET]}
          - {path: /h, host: shop.example, require: none}
          - {path: /h, require: token}
          - {path: /ws, require: token+session, websocket: true}
          - {path: /enc, require: none, encoded_slash: true}
          - {path: "/pro@x", require: token}
        """

    private static func trusting() async throws -> GatewayInProcess {
        try await .start("server: {trusted_proxies: [127.0.0.1]}\n" + routes)
    }

    private static func uri(_ uri: String, _ method: String = "GET") -> [(String, String)] {
        [("X-Forwarded-Uri", uri), ("X-Forwarded-Method", method)]
    }

    @Test("Without forwarded fields only the credentials are judged, with any method")
    func credentialsAlone() async throws {
        let gateway = try await Self.trusting()
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"] {
            let answer = try gateway.request(method, "/api/auth/verify", headers: [ada.bearer])
            #expect(
                answer.status == 200 && answer["x-gatehouse-user"] == ada.userID
                    && answer["cache-control"] == "no-store")
            #expect(answer["x-gatehouse-assertion"] != nil && answer["x-gatehouse-session"] == nil)
        }
        let faults: [([(String, String)], String)] = [
            ([], "credentials_missing"), ([("Authorization", "Bearer x.y.z")], "invalid_token"),
            ([ada.bearer, ada.bearer], "invalid_request"),
            ([("Authorization", "Bearer \(ada.sessionID)")], "credentials_swapped"),
        ]
        for (fields, code) in faults {
            let answer = try gateway.request("GET", "/api/auth/verify", headers: fields)
            #expect(
                answer.status == 401 && answer.code == code && answer["www-authenticate"]?.hasPrefix("Bearer") == true,
                "\(code)")
        }
        #expect(try gateway.request("GET", "/api/auth/verify?access_token=\(ada.token)").status == 401)
        #expect(try gateway.request("GET", "/api/auth/verify", headers: [ada.bearer]).status == 200)
    }

    @Test("The refusal for a resource says where its metadata is and which scopes it needs")
    func resource() async throws {
        let gateway = try await GatewayInProcess.start(
            """
            server: {trusted_proxies: [127.0.0.1]}
            routes:
              - {path: /mcp, scopes: [read], resource: {name: Tools, scopes: [read, write]}}
              - {path: /plain, require: token}
            """)
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let challenge =
            "resource_metadata=\"\(gateway.origin)/.well-known/oauth-protected-resource/mcp\", scope=\"read\""
        let rows: [(fields: [(String, String)], error: String)] = [
            ([], ""), ([ada.bearer], "error=\"invalid_token\", "),
        ]
        for (fields, error) in rows {
            let answer = try gateway.request("GET", "/api/auth/verify", headers: Self.uri("/mcp/x") + fields)
            let said = answer["www-authenticate"]
            #expect(answer.status == 401 && said == "Bearer realm=\"gatehouse\", \(error)\(challenge)", "\(said ?? "")")
        }
        let plain = try gateway.request("GET", "/api/auth/verify", headers: Self.uri("/plain"))
        #expect(plain.status == 401 && plain["www-authenticate"] == "Bearer realm=\"gatehouse\"")
    }

    @Test("The forwarded request is judged by the route that covers it")
    func routed() async throws {
        let gateway = try await Self.trusting()
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        func status(_ fields: [(String, String)], _ path: String = "/api/auth/verify") throws -> Int {
            try gateway.request("GET", path, headers: fields).status
        }
        let session = ("Session-Id", ada.sessionID)
        let table: [(String, [(String, String)], Int)] = [
            ("open", Self.uri("/x"), 200), ("needs a token", Self.uri("/orders/1"), 401),
            ("has it", Self.uri("/orders/1") + [ada.bearer], 200),
            ("lacks a scope", Self.uri("/admin") + [ada.bearer], 403),
            ("own session", Self.uri("/own") + [ada.bearer, session], 200),
            ("foreign session", Self.uri("/own") + [bob.bearer, session], 403),
            ("secret", Self.uri("/secret") + [("Session-Secret", ada.sessionSecret)], 200),
            ("cookie", Self.uri("/secret") + [("Cookie", "gatehouse=\(ada.sessionSecret)")], 200),
            ("other method", Self.uri("/get", "POST") + [ada.bearer], 403),
            ("method", Self.uri("/get") + [ada.bearer], 200),
            ("host", Self.uri("/h") + [("X-Forwarded-Host", "SHOP.example:443")], 200),
            ("other host", Self.uri("/h") + [("X-Forwarded-Host", "other")], 401),
            ("nginx", [("X-Original-URI", "/orders/1")], 401),
            ("nginx, token", [("X-Original-URI", "/orders/1"), ada.bearer], 200),
            ("whole URI", [("X-Original-URL", "https://shop.example/h?a")], 200),
            ("whole URI against host", [("X-Original-URL", "https://shop.example/h"), ("X-Forwarded-Host", "x")], 403),
            ("encoded slash", Self.uri("/enc/a%2fb"), 200), ("encoded letter", Self.uri("/%6frders/1"), 401),
            ("encoded at", Self.uri("/pro%40x"), 401), ("raw at", Self.uri("/pro@x"), 401),
            ("TRACE", Self.uri("/x", "TRACE"), 403), ("no method", Self.uri("/x", "NONSENSE"), 403),
            ("no path", [("X-Forwarded-Method", "GET")], 403), ("no path, host", [("X-Forwarded-Host", "h")], 403),
        ]
        for (name, fields, expected) in table { #expect(try status(fields) == expected, "\(name)") }
        #expect(try status([ada.bearer], "/api/auth/verify/orders/1") == 200)
        #expect(try status([], "/api/auth/verify/orders/1") == 401)
        #expect(try status([], "/api/auth/verify/x/..%2forders") == 401)
        for (path, uri, expected) in [
            ("/x", "/x", 200), ("/x?a=1", "/x?a=1", 200), ("/%78", "/x", 200), ("/", "/", 200), ("/", "/x", 403),
            ("/x", "/y", 403),
            ("/x", "/orders/1", 403), ("/orders/1", "/x", 403), ("/x?a=1", "/x", 403), ("/x", "/x?a=1", 403),
        ] {
            for name in ["X-Forwarded-Uri", "X-Original-URI", "X-Original-URL"] {
                #expect(try status([(name, uri)], "/api/auth/verify" + path) == expected, "\(path) \(name): \(uri)")
            }
        }
        for uri in [
            "orders", "", "/x/../orders", "/x/%2e%2e/orders", "//orders", "/x#", "*", "/x%00", "/orders;x",
            "/;x/orders", "/%256frders/1",
        ] {
            #expect(try [401, 403].contains(status([("X-Forwarded-Uri", uri)])), "\(uri)")
        }
        // A route without an upstream is there for this endpoint only.
        #expect(try gateway.request("GET", "/orders/1", headers: [ada.bearer]).status == 404)
    }

    @Test("A slash alone is the path that Envoy asks about, and is judged by its route")
    func appendedRoot() async throws {
        let gateway = try await GatewayInProcess.start(
            "server: {trusted_proxies: [127.0.0.1]}\nroutes: [{path: /, scopes: [admin]}]\n")
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        for (path, fields, status) in [
            ("", [], 200), ("/", [], 403), ("/?a=1", [], 403), ("/x", [], 403),
            ("/", [("X-Forwarded-Uri", "/x")], 403), ("/", [("X-Forwarded-Proto", "https")], 403),
        ] as [(String, [(String, String)], Int)] {
            let answer = try gateway.request("GET", "/api/auth/verify" + path, headers: [ada.bearer] + fields)
            #expect(answer.status == status, "\(path) \(fields)")
        }
        let wary = try await GatewayInProcess.start(Self.routes)
        defer { wary.stop() }
        #expect(try wary.request("GET", "/api/auth/verify/").status == 403)
    }

    @Test("Credentials in the forwarded query count for GET alone, also where only the asking says the method")
    func forwardedQuery() async throws {
        let gateway = try await Self.trusting()
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let uri = "/ws?access_token=\(ada.token)&session_id=\(ada.sessionID)"
        for (method, said, status) in [
            ("GET", nil, 200), ("GET", "GET", 200), ("POST", "GET", 200), ("POST", nil, 401), ("GET", "POST", 401),
        ] as [(String, String?, Int)] {
            let fields = [("X-Forwarded-Uri", uri)] + (said.map { [("X-Forwarded-Method", $0)] } ?? [])
            let answer = try gateway.request(method, "/api/auth/verify", headers: fields)
            #expect(answer.status == status, "\(method) \(said ?? "-"): \(answer.text)")
        }
    }

    @Test("Forwarded fields that come twice, or from a peer that is not trusted, are 403")
    func doubledOrUntrusted() async throws {
        let gateway = try await Self.trusting()
        defer { gateway.stop() }
        for extra in ["X-Forwarded-Uri", "X-Original-URI", "X-Forwarded-Method", "X-Original-Method"] {
            let answer = try gateway.request("GET", "/api/auth/verify", headers: Self.uri("/x") + [(extra, "/x")])
            #expect(answer.status == 403, "\(extra)")
        }
        #expect(try gateway.request("GET", "/api/auth/verify", headers: Self.uri("/x")).status == 200)
        for (name, value) in [
            ("X-Forwarded-Host", "h"), ("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-Proto", "http"),
            ("X-Forwarded-Port", "80"), ("Forwarded", "for=192.0.2.1"), ("X-Real-IP", "192.0.2.1"),
        ] {
            for count in 1...2 {
                let fields = Self.uri("/x") + Array(repeating: (name, value), count: count)
                let answer = try gateway.request("GET", "/api/auth/verify", headers: fields)
                #expect(answer.status == (count == 1 ? 200 : 403), "\(name)")
            }
        }
        // What names no single host must not be judged by the routes of no host.
        for host in ["a.example, h", "h,h", "a@h", "a b", "a%2eexample", "h:1:1", "h/", "[h]", "h:", ""] {
            let fields = Self.uri("/x") + [("X-Forwarded-Host", host)]
            #expect(try gateway.request("GET", "/api/auth/verify", headers: fields).status == 403, "'\(host)'")
        }

        let wary = try await GatewayInProcess.start(Self.routes)
        defer { wary.stop() }
        let ada = try wary.login(.ada)
        for name in [
            "X-Forwarded-Uri", "X-Forwarded-For", "Forwarded", "X-Original-URI", "X-Real-IP", "X-Rewrite-URL",
        ] {
            #expect(
                try wary.request("GET", "/api/auth/verify", headers: [ada.bearer, (name, "/x")]).status == 403,
                "\(name)")
        }
        #expect(try wary.request("GET", "/api/auth/verify/x").status == 403)
        #expect(try wary.request("GET", "/api/auth/verify", headers: [ada.bearer]).status == 200)
    }

    /// Each way of asking: what the proxy sends, and whether it tells the method.
    private static func questions(_ method: String) -> [(path: String, asks: String, fields: [(String, String)])] {
        [
            ("/api/auth/verify", "GET", uri("/secret", method)),
            ("/api/auth/verify", "GET", [("X-Original-URI", "/secret"), ("X-Original-Method", method)]),
            ("/api/auth/verify/secret", method, []),
        ]
    }

    @Test("A cross-site request that rests on the cookie is refused as on a route, by the method that was forwarded")
    func crossSite() async throws {
        let gateway = try await GatewayInProcess.start(
            "server: {trusted_proxies: [127.0.0.1], allowed_origins: ['https://app.example']}\n" + Self.routes)
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let cookie = ("Cookie", "gatehouse=\(ada.sessionSecret)")
        let evil = ("Origin", "https://evil.example")
        let foreign: [[(String, String)]] = [
            [evil], [("Origin", "null")], [("Sec-Fetch-Site", "cross-site")], [evil, evil],
            [("Origin", "https://app.example"), evil], [evil, ("Sec-Fetch-Site", "same-origin")],
        ]
        let harmless: [[(String, String)]] = [
            [], [("Origin", "https://app.example")], [("Origin", gateway.origin)], [("Sec-Fetch-Site", "same-origin")],
            [("Origin", "https://app.example"), ("Sec-Fetch-Site", "cross-site")],
        ]
        for method in ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"] {
            for (path, asks, fields) in Self.questions(method) {
                for origin in foreign {
                    let answer = try gateway.request(asks, path, headers: fields + [cookie] + origin)
                    expectRefused(answer, 403, "origin_refused", "\(method) \(path) \(origin)")
                    #expect(answer["x-gatehouse-user"] == nil)
                }
                for origin in harmless {
                    let answer = try gateway.request(asks, path, headers: fields + [cookie] + origin)
                    expectStatus(answer, 200, "\(method) \(path) \(origin)")
                }
                // What a page can't make a browser send does not rest on the cookie.
                let secret = [("Session-Secret", ada.sessionSecret), evil]
                expectStatus(try gateway.request(asks, path, headers: fields + secret), 200, "\(method) \(path)")
            }
        }
        for method in ["GET", "HEAD", "OPTIONS"] {
            for (path, asks, fields) in Self.questions(method) {
                let answer = try gateway.request(asks, path, headers: fields + [cookie, evil])
                expectStatus(answer, 200, "\(method) \(path)")
            }
        }
        // The session of a token+session route may be the cookie's; the token alone never rests on it.
        let own = Self.uri("/own", "POST") + [ada.bearer, evil]
        expectRefused(try gateway.request("GET", "/api/auth/verify", headers: own + [cookie]), 403, "origin_refused")
        let named = own + [("Session-Id", ada.sessionID)]
        expectStatus(try gateway.request("GET", "/api/auth/verify", headers: named), 200)
        let token = Self.uri("/orders", "POST") + [ada.bearer, evil, cookie]
        expectStatus(try gateway.request("GET", "/api/auth/verify", headers: token), 200)
        // No field says which method it was: it may be an unsafe one.
        let silent = [("X-Original-URI", "/secret"), cookie]
        expectRefused(try gateway.request("GET", "/api/auth/verify", headers: silent + [evil]), 403, "origin_refused")
        expectStatus(try gateway.request("GET", "/api/auth/verify", headers: silent), 200)
    }

    @Test("Credentials in the forwarded query count for sockets, and only there; a parameter of its own never does")
    func queryCredentials() async throws {
        let gateway = try await Self.trusting()
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let session = ada.sessionID
        func answer(_ uri: String, _ fields: [(String, String)] = []) throws -> RawResponse {
            try gateway.request("GET", "/api/auth/verify", headers: Self.uri(uri) + fields)
        }
        #expect(try answer("/ws?access_token=\(ada.token)&session_id=\(session)").status == 200)
        #expect(try answer("/ws?access_token=\(bob.token)&session_id=\(session)").status == 403)
        #expect(try answer("/ws?access_token=\(ada.token)").code == "credentials_missing")
        #expect(
            try answer("/ws?access_token=\(ada.token)&session_id=\(session)", [ada.bearer]).code == "invalid_request")
        #expect(
            try answer("/ws?access_token=\(ada.token)&session_id=\(session)", [("Origin", "https://evil.example")])
                .status == 403)
        #expect(try answer("/orders?access_token=\(ada.token)").status == 401)
        // No handshake has another method.
        for method in ["POST", "HEAD"] {
            let asked = Self.uri("/ws?access_token=\(ada.token)&session_id=\(session)", method)
            #expect(try gateway.request("GET", "/api/auth/verify", headers: asked).status == 401, "\(method)")
        }
        let ticket =
            try gateway.request("POST", "/api/session/\(session)/ticket", headers: [ada.bearer]).json["ticket"]
            as? String ?? ""
        #expect(try answer("/ws?ticket=\(ticket)").status == 200)
        #expect(try answer("/ws?ticket=\(ticket)").code == "invalid_token")
        let own = "/api/auth/verify?access_token=\(ada.token)&session_id=\(session)"
        #expect(try gateway.request("GET", own, headers: Self.uri("/ws")).status == 401)
    }
}
