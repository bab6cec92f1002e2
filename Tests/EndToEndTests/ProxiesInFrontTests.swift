import Foundation
import Testing

/// The decision endpoint behind nginx, Caddy and HAProxy, configured by the snippets of docs/integrations.md.
///
/// Each test needs the program and is skipped where it is not installed.
@Suite(.blocking) struct ProxiesInFrontTests {
    private struct Setup {
        let gateway: any GatewayUnderTest
        let upstream: RecordingUpstream
        let port: Int
        func stop() {
            gateway.stop()
            upstream.stop()
        }
    }

    private func setup() async throws -> Setup {
        let gateway = try await GatewayInProcess.start(
            """
            server: {trusted_proxies: [127.0.0.1]}
            routes:
              - {path: /open, require: none}
              - {path: /orders, require: token, scopes: ["orders:read"]}
              - {path: /admin, require: token, scopes: [admin]}
              - {path: /visit, require: session}
            """)
        return Setup(gateway: gateway, upstream: try RecordingUpstream(), port: try SocketAddressing.unusedPort())
    }

    /// The first snippet of the page in this language, with other addresses and paths in it.
    private func snippet(_ language: String, replacing changes: [(String, String)] = []) throws -> String {
        let page = GatewayProcess.packageRoot.appendingPathComponent("docs/integrations.md")
        let blocks = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```\(language)\n")
        let block = try #require(blocks.dropFirst().first, "no snippet for \(language)")
        var text = try #require(block.components(separatedBy: "```").first)
        for (old, new) in changes {
            #expect(text.contains(old), "the snippet for \(language) has no \(old)")
            text = text.replacingOccurrences(of: old, with: new)
        }
        return text
    }

    /// What a client says that only the gateway may say.
    private static let forged = [
        "X-Gatehouse-User", "X-Gatehouse-Tenant", "X-Gatehouse-Scope", "X-Gatehouse-Session", "X-Gatehouse-Assertion",
        "X_Gatehouse_User",
    ].map { ($0, "forged") }

    /// What every proxy must do with our answers.
    private func check(_ proxy: ProxyInFront, _ setup: Setup) throws {
        let ada = try setup.gateway.login(.ada)
        #expect(try proxy.request("GET", "/open/x").status == 200)
        #expect(try proxy.request("GET", "/orders/1").status == 401)
        #expect(try proxy.request("GET", "/orders/1", headers: [("Authorization", "Bearer x.y.z")]).status == 401)
        #expect(try proxy.request("GET", "/admin/1", headers: [ada.bearer]).status == 403)
        #expect(try proxy.request("GET", "/elsewhere", headers: [ada.bearer]).status == 403)
        for path in ["/orders/../open/x", "/open/%2e%2e/orders"] {
            #expect(try proxy.request("GET", path).status != 200, "\(path)")
        }
        try checkFields(proxy, setup, ada)
        try checkOrigins(proxy, setup, ada)
        // What the client says of forwarding does not count.
        setup.upstream.forget()
        #expect(
            try proxy.request("GET", "/orders/1", headers: [("X-Forwarded-Uri", "/open"), ("X-Original-URI", "/open")])
                .status != 200)
        #expect(setup.upstream.requests.isEmpty)
        #expect(try proxy.request("GET", "/orders/1", headers: [ada.bearer]).status == 200)
    }

    /// The service hears who calls from the gateway alone, and nothing that it could call with itself.
    private func checkFields(_ proxy: ProxyInFront, _ setup: Setup, _ ada: LoggedIn) throws {
        let secret = ada.sessionSecret
        let shown = [ada.bearer, ("Session-Secret", secret), ("Cookie", "gatehouse=\(secret)")]
        setup.upstream.forget()
        #expect(try proxy.request("GET", "/orders/1?a=b", headers: shown + Self.forged).status == 200)
        let seen = try #require(setup.upstream.requests.last)
        #expect(seen.target == "/orders/1?a=b" && seen.all("x-gatehouse-user") == [ada.userID])
        #expect(seen.all("x-gatehouse-tenant") == ["acme"] && seen.all("x-gatehouse-scope") == ["orders:read"])
        #expect(seen.all("x-gatehouse-assertion").count == 1)
        #expect(!seen.text.contains("forged") && !seen.text.contains(secret) && !seen.text.contains(ada.token))
        // A session speaks for its owner, and has no scope.
        #expect(try proxy.request("GET", "/visit", headers: [("Session-Secret", secret)] + Self.forged).status == 200)
        let visit = try #require(setup.upstream.requests.last)
        #expect(visit.all("x-gatehouse-user") == [ada.userID] && visit["x-gatehouse-scope"] == nil)
        #expect(!visit.text.contains("forged") && !visit.text.contains(secret))
        // On an open route the caller stays unknown.
        #expect(try proxy.request("GET", "/open/x", headers: Self.forged).status == 200)
        let unknown = try #require(setup.upstream.requests.last)
        #expect(unknown.target == "/open/x" && !unknown.text.contains("forged"))
        #expect(!unknown.text.lowercased().contains("gatehouse"))
    }

    /// A foreign page can make a browser send the cookie, and nothing that a foreign page has made changes anything.
    private func checkOrigins(_ proxy: ProxyInFront, _ setup: Setup, _ ada: LoggedIn) throws {
        let cookie = [("Cookie", "gatehouse=\(ada.sessionSecret)"), ("Content-Length", "0")]
        let evil = ("Origin", "https://evil.example")
        setup.upstream.forget()
        for foreign in [[evil], [("Sec-Fetch-Site", "cross-site")], [evil, ("Sec-Fetch-Site", "same-origin")]] {
            for method in ["POST", "DELETE"] {
                let answer = try proxy.request(method, "/visit", headers: cookie + foreign)
                #expect(answer.status == 403, "\(method) \(foreign)")
            }
        }
        #expect(setup.upstream.requests.isEmpty)
        for own in [[], [("Origin", setup.gateway.origin)], [("Sec-Fetch-Site", "same-origin")]] {
            #expect(try proxy.request("POST", "/visit", headers: cookie + own).status == 200, "\(own)")
        }
        #expect(try proxy.request("GET", "/visit", headers: cookie + [evil]).status == 200)
        #expect(setup.upstream.requests.map(\.method) == ["POST", "POST", "POST", "GET"])
    }

    @Test("nginx: auth_request", .enabled(if: ProxyInFront.find("nginx") != nil, "nginx is not installed"))
    func nginx() async throws {
        let program = try #require(ProxyInFront.find("nginx"))
        let setup = try await setup()
        defer { setup.stop() }
        let place = setup.gateway.directory
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(place.path)/\($0);"
        }
        let locations = try snippet(
            "nginx",
            replacing: [
                ("location /orders/ {", "location / {"), ("http://orders", setup.upstream.url),
                ("http://127.0.0.1:8080", setup.gateway.origin),
            ])
        let proxy = try await ProxyInFront(
            program,
            arguments: { ["-c", $0, "-p", place.path, "-g", "daemon off; master_process off; error_log stderr;"] },
            configuration: """
                pid \(place.path)/nginx.pid;
                events {}
                http {
                  access_log off;
                  \(temporary.joined(separator: "\n"))
                  server {
                    listen 127.0.0.1:\(setup.port);
                    \(locations)
                  }
                }
                """, port: setup.port, in: place)
        defer { proxy.stop() }
        try check(proxy, setup)
    }

    @Test("Caddy: forward_auth", .enabled(if: ProxyInFront.find("caddy") != nil, "caddy is not installed"))
    func caddy() async throws {
        let program = try #require(ProxyInFront.find("caddy"))
        let setup = try await setup()
        defer { setup.stop() }
        let site = try snippet(
            "caddyfile",
            replacing: [
                ("example.com {", "http://:\(setup.port) {\nbind 127.0.0.1"), ("route /orders/* {", "route {"),
                ("127.0.0.1:8080", "127.0.0.1:\(setup.gateway.port)"),
                ("orders:8000", "127.0.0.1:\(setup.upstream.port)"),
            ])
        let proxy = try await ProxyInFront(
            program, arguments: { ["run", "--adapter", "caddyfile", "--config", $0] },
            configuration: """
                {
                  admin off
                  auto_https off
                }
                \(site)
                """, port: setup.port, in: setup.gateway.directory)
        defer { proxy.stop() }
        try check(proxy, setup)
        // A field that the client names in Connection is not taken out again.
        let ada = try setup.gateway.login(.ada)
        setup.upstream.forget()
        let named = ("Connection", "X-Gatehouse-User, x-gatehouse-scope")
        #expect(try proxy.request("GET", "/orders/1", headers: [ada.bearer, named]).status == 200)
        let seen = try #require(setup.upstream.requests.last)
        #expect(seen.all("x-gatehouse-user") == [ada.userID] && seen["x-gatehouse-scope"] == "orders:read")
    }

    @Test(
        "HAProxy: the Lua action of Examples/haproxy",
        .enabled(if: ProxyInFront.find("haproxy") != nil, "haproxy is not installed"))
    func haproxy() async throws {
        let program = try #require(ProxyInFront.find("haproxy"))
        let setup = try await setup()
        defer { setup.stop() }
        let example = GatewayProcess.packageRoot.appendingPathComponent("Examples/haproxy")
        let configuration = try String(contentsOf: example.appendingPathComponent("haproxy.cfg"), encoding: .utf8)
        // The page shows the lines of the example that do it, in a file that is whole.
        let shown = rules(try snippet("haproxy"))
        #expect(!shown.isEmpty && rules(configuration) == shown)
        try checkSnippet(program, example, setup)
        let proxy = try await ProxyInFront(
            program, arguments: { ["-db", "-f", $0] }, configuration: configuration,
            environment: [
                "GATEHOUSE_LUA": example.appendingPathComponent("gatehouse.lua").path,
                "GATEHOUSE_URL": "\(setup.gateway.origin)/api/auth/verify",
                "GATEHOUSE_BIND": "127.0.0.1:\(setup.port)",
                "GATEHOUSE_ORDERS": "127.0.0.1:\(setup.upstream.port)",
            ], port: setup.port, in: setup.gateway.directory)
        defer { proxy.stop() }
        try check(proxy, setup)
        // Who can't be asked has not said yes.
        setup.upstream.forget()
        setup.gateway.stop()
        #expect(try proxy.request("GET", "/open/x").status == 503 && setup.upstream.requests.isEmpty)
    }

    /// HAProxy takes the file of the page and has nothing to say about it.
    private func checkSnippet(_ program: String, _ example: URL, _ setup: Setup) throws {
        let file = setup.gateway.directory.appendingPathComponent("snippet.cfg")
        try snippet(
            "haproxy",
            replacing: [
                ("/etc/haproxy/gatehouse.lua", example.appendingPathComponent("gatehouse.lua").path),
                (" ssl crt /etc/haproxy/cert.pem", ""), ("bind :443", "bind 127.0.0.1:\(setup.port)"),
            ]
        ).write(to: file, atomically: true, encoding: .utf8)
        let checked = try Program.run(program, ["-c", "-f", file.path])
        #expect(checked.status == 0 && !checked.errors.contains("WARNING"), "\(checked.errors)")
    }

    private func rules(_ configuration: String) -> [String] {
        configuration.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix("http-request ") }
    }
}
