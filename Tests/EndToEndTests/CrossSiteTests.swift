import Foundation
import Testing

/// Other sites' pages, and the cookies that browsers keep.
@Suite(.blocking) struct CrossSiteTests {
    private static let configuration = """
        server:
          allowed_origins: [https://app.example]
          trusted_proxies: [127.0.0.1]
        limits:
          enabled: false

        """

    @Test("Unsafe requests of other sites are refused, cookie or not, and the refusal says what to change")
    func refused() async throws {
        let gateway = try await GatewayInProcess.start(Self.configuration, users: [])
        defer { gateway.stop() }
        let foreign: [[(String, String)]] = [
            [("Origin", "https://evil.example")], [("Origin", "null")], [("Origin", "https://app.example.evil")],
            [("Origin", "https://app.example:444")], [("Origin", "http://app.example")],
            [("Origin", "https://app.example/")], [("Sec-Fetch-Site", "cross-site")],
            [("Origin", "https://app.example"), ("Origin", "https://app.example")],
            [("Sec-Fetch-Site", "cross-site"), ("Origin", "https://evil.example")],
        ]
        let paths = [
            "/api/session/create-anonymous", "/api/auth/login", "/api/auth/refresh", "/api/auth/logout",
            "/api/auth/password", "/api/intent",
        ]
        for headers in foreign {
            for path in paths {
                let answer = try gateway.request("POST", path, headers: headers, json: [String: String]())
                expectRefused(answer, 403, "origin_refused", "\(headers) \(path)")
                #expect(answer["access-control-allow-origin"] == nil)
            }
        }
        let told = try gateway.request("POST", paths[0], headers: foreign[0], json: [String: String]())
        let detail = told.json["detail"] as? String ?? ""
        #expect(detail.contains("https://evil.example") && detail.contains("server.allowed_origins"))
        // The requested host does not decide which origin is the gateway's own.
        let socket = try RawSocket(port: gateway.port)
        try socket.send(
            "POST \(paths[0]) HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\nContent-Length: 0\r\n\r\n"
        )
        expectRefused(try socket.response(), 403, "origin_refused")

        let own = ["http://127.0.0.1:\(gateway.port)", "http://localhost:\(gateway.port)", "https://app.example"]
        for origin in own {
            let headers = [("Origin", origin), ("Sec-Fetch-Site", "cross-site")]
            let answer = try gateway.request("POST", paths[0], headers: headers, json: [String: String]())
            expectStatus(answer, 200, origin)
            #expect(answer["access-control-allow-origin"] == origin && answer["vary"] == "Origin")
            #expect(answer["access-control-allow-credentials"] == "true")
        }
        for site in ["same-origin", "same-site", "none"] {
            expectStatus(try gateway.request("POST", paths[0], headers: [("Sec-Fetch-Site", site)]), 200, site)
        }
    }

    @Test("Unsafe requests of other sites are refused at an external Runtime as well")
    func refusedForRuntime() async throws {
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let gateway = try await GatewayInProcess.start(Self.configuration + "runtime: {url: \(upstream.url)}\n")
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let credentials = [ada.bearer, ("Session-Id", ada.sessionID)]
        for foreign in [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")] {
            let answer = try gateway.request("POST", "/api/runtime/x", headers: credentials + [foreign])
            expectRefused(answer, 403, "origin_refused", "\(foreign)")
        }
        #expect(upstream.requests.isEmpty)
        let own = credentials + [("Origin", "https://app.example")]
        expectStatus(try gateway.request("POST", "/api/runtime/x", headers: own), 200)
        expectStatus(
            try gateway.request("GET", "/api/runtime/x", headers: credentials + [("Origin", "https://evil.example")]),
            200)
    }

    @Test("Refusals carry the CORS fields, preflights are answered without credentials, public documents to all")
    func cors() async throws {
        let gateway = try await GatewayInProcess.start(Self.configuration, users: [])
        defer { gateway.stop() }
        let app = ("Origin", "https://app.example")
        let evil = ("Origin", "https://evil.example")
        let ask = ("Access-Control-Request-Method", "POST")
        for answer in [
            try gateway.request("GET", "/api/auth/me", headers: [app]),
            try gateway.request("POST", "/api/auth/login", headers: [app, ("Content-Type", "text/plain")], body: "x"),
            try gateway.request("GET", "/api/nothing", headers: [app]),
        ] {
            #expect(answer.status >= 400 && answer["access-control-allow-origin"] == "https://app.example")
        }
        #expect(try gateway.request("GET", "/api/auth/me", headers: [evil])["access-control-allow-origin"] == nil)
        // Also where the head is all that was looked at.
        for (method, path) in [
            ("GET", "/pub/../x"), ("GET", "/%2f"), ("GET", "/x//y"), ("GET", "/api/runtime/x"), ("POST", "/"),
            ("TRACE", "/x"),
        ] {
            let answer = try gateway.request(method, path, headers: [app])
            #expect(answer.status >= 400 && answer.status < 500, "\(method) \(path)")
            #expect(answer["access-control-allow-origin"] == app.1 && answer["vary"] == "Origin", "\(method) \(path)")
            let foreign = try gateway.request(method, path, headers: [evil])
            #expect(foreign["access-control-allow-origin"] == nil && foreign["vary"] == "Origin", "\(method) \(path)")
        }
        for path in ["/api/auth/login", "/api/runtime/agent", "/", "/gatehouse.js"] {
            let preflight = try gateway.request("OPTIONS", path, headers: [app, ask])
            expectStatus(preflight, 204, path)
            #expect(preflight["access-control-allow-origin"] == "https://app.example", "\(path)")
            #expect(preflight["access-control-allow-headers"]?.contains("Session-Secret") == true, "\(path)")
            let refused = try gateway.request("OPTIONS", path, headers: [evil, ask])
            #expect(refused.status == 204 && refused["access-control-allow-origin"] == nil, "\(path)")
        }
        // A question of a proxy in front, even about a preflight: it is judged.
        expectRefused(
            try gateway.request("OPTIONS", "/api/auth/verify", headers: [app, ask]), 401, "credentials_missing")
        // Without the fields of a preflight, a method like any other.
        expectStatus(try gateway.request("OPTIONS", "/gatehouse.js", headers: [app]), 405)
        let script = try gateway.request("GET", "/gatehouse.js", headers: [app])
        #expect(script.status == 200 && script["access-control-allow-origin"] == "https://app.example")
        #expect(script["vary"] == "Origin")
        #expect(try gateway.request("GET", "/gatehouse.js", headers: [evil])["access-control-allow-origin"] == nil)
        for path in ["/.well-known/jwks.json", "/.well-known/oauth-authorization-server"] {
            #expect(try gateway.request("GET", path, headers: [evil])["access-control-allow-origin"] == "*")
        }
    }

    @Test("A body that is no JSON is 415, as a form of another site would send it")
    func contentType() async throws {
        let gateway = try await GatewayInProcess.start(Self.configuration, users: [])
        defer { gateway.stop() }
        let path = "/api/session/create-anonymous"
        for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "multipart/form-data"] {
            let answer = try gateway.request("POST", path, headers: [("Content-Type", type)], body: "{}")
            expectRefused(answer, 415, "unsupported_media_type", type)
        }
        expectRefused(try gateway.request("POST", path, body: "{}"), 415, "unsupported_media_type")
        for type in ["application/json", "Application/JSON; charset=utf-8"] {
            expectStatus(try gateway.request("POST", path, headers: [("Content-Type", type)], body: "{}"), 200, type)
        }
        expectStatus(try gateway.request("POST", path), 200, "no body needs no type")
        for types in [["application/json", "text/plain"], ["application/json", "application/json"]] {
            let answer = try gateway.request("POST", path, headers: types.map { ("Content-Type", $0) }, body: "{}")
            expectRefused(answer, 415, "unsupported_media_type", "\(types)")
        }
    }

    @Test("Browsers get secrets as cookies only: __Host- behind https, plain on loopback, none on plain http elsewhere")
    func cookies() async throws {
        let gateway = try await GatewayInProcess.start(Self.configuration, users: [.ada])
        defer { gateway.stop() }
        let browser = ("Sec-Fetch-Site", "same-origin")
        let elsewhere = ("X-Forwarded-For", "203.0.113.9")
        let secure = [browser, elsewhere, ("X-Forwarded-Proto", "https")]
        let answer = try gateway.attemptLogin(.ada, headers: secure)
        #expect(Set(answer.cookies.keys) == ["__Host-gatehouse", "__Host-gatehouse-refresh"])
        for cookie in answer.cookies.values {
            for attribute in ["Secure", "HttpOnly", "Path=/", "Max-Age="] { #expect(cookie.contains(attribute)) }
            #expect(!cookie.contains("Domain"))
        }
        #expect(answer.cookies["__Host-gatehouse"]?.contains("SameSite=Lax") == true)
        #expect(answer.json["session_secret"] == nil && answer.json["refresh_token"] == nil)
        let secret = try #require(answer.cookieValue("__Host-gatehouse"))
        func current(_ headers: [(String, String)], _ cookie: String) throws -> RawResponse {
            try gateway.request(
                "GET", "/api/session/current", headers: headers + [("Cookie", "\(cookie)=\(secret)")])
        }
        expectStatus(try current(secure, "__Host-gatehouse"), 200)
        expectRefused(try current(secure, "gatehouse"), 401, "credentials_missing")
        expectStatus(try current([browser], "gatehouse"), 200)
        expectRefused(try current([browser, elsewhere], "gatehouse"), 401, "credentials_missing")

        let plain = try gateway.attemptLogin(.ada, headers: [browser, elsewhere])
        #expect(plain.status == 200 && plain.cookies.isEmpty)
        #expect(gateway.log.contains("plain http from beyond loopback"))
        let body = try gateway.attemptLogin(.ada, headers: [browser], also: ["deliver": "body"])
        #expect(body.cookies.isEmpty && LoggedIn(body.json).sessionSecret.hasPrefix("sec_"))
        #expect(try gateway.attemptLogin(.ada).cookies.isEmpty, "who is no browser gets none")
    }

    @Test("A proxy on this machine that does not say that the client used TLS is warned of", arguments: [true, false])
    func silentProxy(isPublic: Bool) async throws {
        let gateway = try await GatewayInProcess.start(
            (isPublic ? "tokens: {issuer: 'https://gate.example'}\n" : "")
                + "server: {trusted_proxies: [127.0.0.1], allowed_origins: ['https://gate.example']}", users: [.ada])
        defer { gateway.stop() }
        let browser = ("Sec-Fetch-Site", "same-origin")
        let said = try gateway.attemptLogin(.ada, headers: [browser, ("X-Forwarded-Proto", "https")])
        #expect(said.cookies["__Host-gatehouse"] != nil && !gateway.log.contains("cookies are set without Secure"))
        let silent = try gateway.attemptLogin(.ada, headers: [browser])
        #expect(silent.cookies["gatehouse"] != nil)
        #expect(gateway.log.contains("cookies are set without Secure") == isPublic)
    }
}
