import Foundation
import Testing

/// The decision endpoint behind nginx, Caddy and HAProxy as their users configure them.
///
/// Each test needs the program and is skipped where it is not installed.
@Suite struct ProxiesInFrontTests {
    private struct House {
        let gateway: GatewayProcess
        let upstream: RecordingUpstream
        let port: Int
        func stop() {
            gateway.stop()
            upstream.stop()
        }
    }

    private func house() async throws -> House {
        let gateway = try await GatewayProcess.start(
            """
            server: {trusted_proxies: [127.0.0.1]}
            routes:
              - {path: /open, require: none}
              - {path: /orders, require: token, scopes: ["orders:read"]}
              - {path: /admin, require: token, scopes: [admin]}
            """)
        return House(gateway: gateway, upstream: try RecordingUpstream(), port: try SocketAddressing.unusedPort())
    }

    /// What every proxy must do with our answers.
    private func check(_ proxy: ProxyInFront, _ house: House) throws {
        let ada = try house.gateway.login(.ada)
        #expect(try proxy.request("GET", "/open/x").status == 200)
        #expect(try proxy.request("GET", "/orders/1").status == 401)
        #expect(try proxy.request("GET", "/orders/1", headers: [("Authorization", "Bearer x.y.z")]).status == 401)
        #expect(try proxy.request("GET", "/admin/1", headers: [ada.bearer]).status == 403)
        #expect(try proxy.request("GET", "/elsewhere", headers: [ada.bearer]).status == 403)
        for path in ["/orders/../open/x", "/open/%2e%2e/orders"] {
            #expect(try proxy.request("GET", path).status != 200, "\(path)")
        }
        house.upstream.forget()
        let forged = ("X-Gatehouse-User", "usr_forged")
        #expect(try proxy.request("GET", "/orders/1?a=b", headers: [ada.bearer, forged]).status == 200)
        let seen = try #require(house.upstream.requests.last)
        #expect(seen.all("x-gatehouse-user") == [ada.userID] && seen.target == "/orders/1?a=b")
        // What the client says of forwarding does not count.
        house.upstream.forget()
        #expect(
            try proxy.request("GET", "/orders/1", headers: [("X-Forwarded-Uri", "/open"), ("X-Original-URI", "/open")])
                .status != 200)
        #expect(house.upstream.requests.isEmpty)
        #expect(try proxy.request("GET", "/orders/1", headers: [ada.bearer]).status == 200)
    }

    @Test("nginx: auth_request", .enabled(if: ProxyInFront.find("nginx") != nil, "nginx is not installed"))
    func nginx() async throws {
        let program = try #require(ProxyInFront.find("nginx"))
        let house = try await house()
        defer { house.stop() }
        let place = house.gateway.directory
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(place.path)/\($0);"
        }
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
                    listen 127.0.0.1:\(house.port);
                    location / {
                      auth_request /gatehouse;
                      auth_request_set $user $upstream_http_x_gatehouse_user;
                      proxy_set_header X-Gatehouse-User $user;
                      proxy_pass \(house.upstream.url);
                    }
                    location = /gatehouse {
                      internal;
                      proxy_pass \(house.gateway.origin)/api/auth/verify;
                      proxy_pass_request_body off;
                      proxy_set_header Content-Length "";
                      proxy_set_header Host $http_host;
                      proxy_set_header X-Original-URI $request_uri;
                      proxy_set_header X-Forwarded-Method $request_method;
                      proxy_set_header X-Forwarded-Uri "";
                    }
                  }
                }
                """, port: house.port, in: place)
        defer { proxy.stop() }
        try check(proxy, house)
    }

    @Test("Caddy: forward_auth", .enabled(if: ProxyInFront.find("caddy") != nil, "caddy is not installed"))
    func caddy() async throws {
        let program = try #require(ProxyInFront.find("caddy"))
        let house = try await house()
        defer { house.stop() }
        let proxy = try await ProxyInFront(
            program, arguments: { ["run", "--adapter", "caddyfile", "--config", $0] },
            configuration: """
                {
                  admin off
                  auto_https off
                }
                http://:\(house.port) {
                  bind 127.0.0.1
                  route {
                    request_header -X-Gatehouse-*
                    request_header -X-Original-*
                    forward_auth 127.0.0.1:\(house.gateway.port) {
                      uri /api/auth/verify
                      copy_headers X-Gatehouse-User X-Gatehouse-Assertion
                    }
                    reverse_proxy 127.0.0.1:\(house.upstream.port)
                  }
                }
                """, port: house.port, in: house.gateway.directory)
        defer { proxy.stop() }
        try check(proxy, house)
    }

    @Test(
        "HAProxy: the Lua action of Examples/haproxy",
        .enabled(if: ProxyInFront.find("haproxy") != nil, "haproxy is not installed"))
    func haproxy() async throws {
        let program = try #require(ProxyInFront.find("haproxy"))
        let house = try await house()
        defer { house.stop() }
        let example = GatewayProcess.packageRoot.appendingPathComponent("Examples/haproxy")
        let configuration = try String(contentsOf: example.appendingPathComponent("haproxy.cfg"), encoding: .utf8)
        let proxy = try await ProxyInFront(
            program, arguments: { ["-db", "-f", $0] }, configuration: configuration,
            environment: [
                "GATEHOUSE_LUA": example.appendingPathComponent("gatehouse.lua").path,
                "GATEHOUSE_URL": "\(house.gateway.origin)/api/auth/verify",
                "GATEHOUSE_BIND": "127.0.0.1:\(house.port)",
                "GATEHOUSE_ORDERS": "127.0.0.1:\(house.upstream.port)",
            ], port: house.port, in: house.gateway.directory)
        defer { proxy.stop() }
        try check(proxy, house)
        let ada = try house.gateway.login(.ada)
        house.upstream.forget()
        #expect(
            try proxy.request("GET", "/orders/1", headers: [ada.bearer, ("X_Gatehouse_User", "usr_forged")]).status
                == 200)
        let seen = try #require(house.upstream.requests.last)
        #expect(!seen.text.contains("usr_forged") && seen["authorization"] == nil)
        // Who can't be asked has not said yes.
        house.upstream.forget()
        house.gateway.stop()
        #expect(try proxy.request("GET", "/open/x").status == 503 && house.upstream.requests.isEmpty)
    }
}
