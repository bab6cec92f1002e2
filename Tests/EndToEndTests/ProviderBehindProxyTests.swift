import Foundation
import Testing

/// Signing in through an identity provider where a proxy in front of the gateway has the certificate: the gateway
/// itself listens on plain HTTP, and is known by an https URL.
@Suite(.blocking) struct ProviderBehindProxyTests {
    /// A browser before the proxy: a curl with a jar of cookies.
    private struct Curl {
        let place: URL

        struct Answer {
            let status: Int
            let location: String
            let body: String

            var json: [String: Any] {
                (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
            }
        }

        var jar: String {
            (try? String(contentsOf: place.appendingPathComponent("cookies"), encoding: .utf8)) ?? ""
        }

        func ask(_ url: String, site: String = "none", post body: String? = nil) throws -> Answer {
            let isNavigation = body == nil
            var arguments = [
                "-s", "-S", "-m", "60", "--cacert", "proxy.pem", "-c", "cookies", "-b", "cookies",
                "-H", "Sec-Fetch-Mode: \(isNavigation ? "navigate" : "cors")", "-H", "Sec-Fetch-Site: \(site)",
                "-w", "\n%{http_code}\n%{redirect_url}",
            ]
            if isNavigation { arguments += ["-H", "Accept: text/html"] }
            if let body { arguments += ["-H", "Content-Type: application/json", "-d", body] }
            let result = try Program.run("curl", arguments + [url], in: place)
            try #require(result.status == 0, "curl: \(result.errors)")
            var lines = String(decoding: result.output, as: UTF8.self).components(separatedBy: "\n")
            let location = lines.popLast() ?? ""
            let status = Int(lines.popLast() ?? "") ?? 0
            return Answer(status: status, location: location, body: lines.joined(separator: "\n"))
        }
    }

    private static func makeCertificate(in place: URL) throws {
        let made = try Program.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "proxy.key",
                "-out", "proxy.pem",
            ], in: place)
        try #require(made.status == 0, "\(made.errors)")
    }

    private static func nginx(
        _ program: String, port: Int, to gateway: String, in place: URL
    ) async throws -> ProxyInFront {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(place.path)/\($0);"
        }
        return try await ProxyInFront(
            program,
            arguments: { ["-c", $0, "-p", place.path, "-g", "daemon off; master_process off; error_log stderr;"] },
            configuration: """
                pid \(place.path)/nginx.pid;
                events {}
                http {
                  access_log off;
                  \(temporary.joined(separator: "\n"))
                  server {
                    listen 127.0.0.1:\(port) ssl;
                    ssl_certificate \(place.path)/proxy.pem;
                    ssl_certificate_key \(place.path)/proxy.key;
                    location / {
                      proxy_pass \(gateway);
                      proxy_http_version 1.1;
                      proxy_set_header Connection "";
                      proxy_set_header Host $http_host;
                      proxy_set_header X-Forwarded-For $remote_addr;
                      proxy_set_header X-Forwarded-Host $http_host;
                      proxy_set_header X-Forwarded-Proto https;
                    }
                  }
                }
                """, port: port, in: place)
    }

    @Test(
        "Behind nginx with TLS: the provider sends back to the public origin, and the same session has __Host- cookies",
        .enabled(
            if: ProxyInFront.find("nginx") != nil && ProxyInFront.find("openssl") != nil
                && Program.pythonHas("oidc_provider_mock"), "nginx, openssl or oidc-provider-mock is not installed"))
    func signIn() async throws {
        let program = try #require(ProxyInFront.find("nginx"))
        let provider = try PythonServer.providerMock()
        let upstream = try RecordingUpstream()
        defer { upstream.stop() }
        let port = try SocketAddressing.unusedPort()
        let origin = "https://localhost:\(port)"
        let gateway = try await GatewayInProcess.start(
            ProviderSignInTests.base + """
                server: {trusted_proxies: [127.0.0.1]}
                tokens: {issuer: '\(origin)'}
                identity_providers:
                  - name: mock
                    issuer: '\(provider.issuer)'
                    client_id: any
                    client_secret: any
                    userinfo: true
                    trust_email: true
                routes:
                  - {path: /orders, upstream: '\(upstream.url)', require: session, allow: {email_domains: [example.com]}}
                """, users: [])
        defer { gateway.stop() }
        try Self.makeCertificate(in: gateway.directory)
        let proxy = try await Self.nginx(program, port: port, to: gateway.origin, in: gateway.directory)
        defer { proxy.stop() }
        let browser = Curl(place: gateway.directory)

        let first = try browser.ask(
            origin + "/api/session/create-anonymous", site: "same-origin", post: "{}")
        let session = try #require(first.json["session_id"] as? String, "\(first.body)")
        #expect(browser.jar.contains("__Host-gatehouse") && !browser.jar.contains("\tgatehouse\t"))
        let there = try browser.ask(origin + "/api/auth/login/mock?return_to=/orders/1%3Fa%3Db")
        #expect(there.status == 303 && there.location.hasPrefix(provider.issuer), "\(there.body)")
        let redirect = URLComponents(string: there.location)?.queryItems?.first { $0.name == "redirect_uri" }?.value
        #expect(redirect == origin + "/api/auth/callback/mock")
        let agreed = try Program.run(
            "curl",
            [
                "-s", "-S", "-m", "60", "-o", "/dev/null", "-w", "%{redirect_url}", "-d", "sub=ada@example.com",
                there.location,
            ],
            in: gateway.directory)
        let callback = String(decoding: agreed.output, as: UTF8.self)
        try #require(callback.hasPrefix(origin + "/api/auth/callback/mock?"), "\(callback)")
        let back = try browser.ask(callback, site: "cross-site")
        #expect(back.status == 303 && back.location == origin + "/orders/1?a=b", "\(back) \(gateway.log)")
        #expect(browser.jar.contains("__Host-gatehouse-refresh"))
        expectStatus(try browser.ask(back.location, site: "cross-site").status, 200)
        let seen = try #require(upstream.requests.last)
        #expect(seen.target == "/orders/1?a=b" && seen.all("x-gatehouse-email") == ["ada@example.com"])
        #expect(seen.all("x-forwarded-proto") == ["https"] && seen.all("x-forwarded-host") == ["localhost:\(port)"])
        let tokens = try browser.ask(origin + "/api/auth/refresh", site: "same-origin", post: "{}")
        #expect(tokens.status == 200 && tokens.json["session_id"] as? String == session, "\(tokens.body)")
        // A second time the code and the state are used up, and the session stays signed in.
        #expect(try browser.ask(callback, site: "cross-site").status == 400)
        expectStatus(try browser.ask(back.location, site: "none").status, 200)
    }

    private func expectStatus(_ status: Int, _ wanted: Int) { #expect(status == wanted) }
}
