import EdgeConfiguration
import Testing

@testable import gatehouse

@Suite("Routes and issuers")
struct RouteReaderTests {
    @Test("A route says only what it needs; the rest is safe")
    func hasSafeDefaults() throws {
        let routes = try load("routes: [{path: /orders, upstream: 'http://127.0.0.1:9000'}]").configuration.routes
        var expected = RouteConfiguration(path: "/orders")
        expected.upstreams = ["http://127.0.0.1:9000"]
        #expect(routes == [expected])
        #expect(routes.first?.require == .tokenAndSession)
        #expect(routes.first?.assertionAudience == "/orders")
    }

    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBdjCCARugAwIBAgIUG7+RIgoUIr7Yuj5I2BJrTegGCA0wCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjIwNzQxMzNaGA8yMTI2MTAyOTA3NDEz
        M1owDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDam
        1l+YZWJpPaNEKGiJTf54OA9sz1QjISLB3d1+NAZYKy1nnLgrPd+6/Mfl+1WrWX4a
        AsGt1bhJhBjikdK1G/WjUzBRMB0GA1UdDgQWBBQPFJDOLQbBk6eFWlO8YgPaPEzT
        DzAfBgNVHSMEGDAWgBQPFJDOLQbBk6eFWlO8YgPaPEzTDzAPBgNVHRMBAf8EBTAD
        AQH/MAoGCCqGSM49BAMCA0kAMEYCIQCyKbDDsy7MKcu4gHOHYw3evzeBpNtmWBgV
        xO+6DubryQIhAI+8M0C6wJncToJbwvqzbC35p9jliC/xLBq+ua3PvTps
        -----END CERTIFICATE-----
        """

    /// What is wrong with a route to an https upstream, whose directory holds a certificate and rubbish.
    private func tlsFaults(_ keys: String, upstream: String = "https://a:1") -> [String] {
        let files = ["ca.pem": Self.certificate, "rubbish.pem": "rubbish"]
        let yaml = "routes:\n  - path: /a\n    upstream: \(upstream)\n    \(keys)\n"
        let loader = ConfigurationLoader(environment: [:]) { path throws(ConfigurationFault) in
            if path == "shut.pem" { throw ConfigurationFault(place: "", message: "shut.pem: Permission denied") }
            return (path == "g.yaml" ? yaml : files[path]).map { Array($0.utf8) }
        }
        do throws(ConfigurationFaults) {
            _ = try loader.load(file: "g.yaml")
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }

    @Test("Files for the TLS to an upstream are looked at when the configuration is read")
    func checksUpstreamFiles() {
        #expect(tlsFaults("upstream_ca: ca.pem").isEmpty)
        let place = "g.yaml:4:18: routes[0].upstream_ca: "
        let noFile = "no such file: correct the path, or create it"
        #expect(tlsFaults("upstream_ca: none.pem") == [place + noFile])
        #expect(tlsFaults("upstream_ca: shut.pem") == [place + "shut.pem: Permission denied"])
        #expect(tlsFaults("upstream_ca: rubbish.pem") == [place + "expected a file with PEM certificates"])
        #expect(
            tlsFaults("upstream_key: ca.pem\n    upstream_certificate: ca.pem") == [
                "g.yaml:4:19: routes[0].upstream_key: expected a file with a PEM private key without a passphrase"
            ])
    }

    @Test("Keys for the TLS to an upstream need an https upstream, and a certificate needs its key")
    func checksUpstreamKeys() {
        #expect(tlsFaults("upstream_ca: ca.pem", upstream: "http://a:1").count == 1)
        #expect(tlsFaults("upstream_name: b", upstream: "unix:/a.sock").count == 1)
        #expect(tlsFaults("upstream_certificate: ca.pem").count == 1)
        #expect(tlsFaults("upstream_key: none.pem").count == 2)
        for name in ["10.0.0.1", "::1", "a b", "a:1", "'*.a'"] {
            #expect(tlsFaults("upstream_name: \(name)").count == 1, "\(name)")
        }
        #expect(tlsFaults("upstream_name: a").isEmpty)
    }

    @Test(
        "A route at a path that the gateway keeps is refused; without an upstream it is asked for decisions alone",
        arguments: ["/api/session", "/api/sessions/x", "/api/auth/", "/api/runtime/agent", "/oauth2", "/api", "/apis"])
    func keptPaths(path: String) {
        let isKept = path != "/api" && path != "/apis"
        let found = faults("routes:\n  - {path: \(path), upstream: 'http://a:1'}\n")
        #expect(found.count == (isKept ? 1 : 0) && found.allSatisfy { $0.contains("keeps this path") })
        #expect(faults("routes:\n  - {path: \(path)}\n").isEmpty)
    }

    @Test(
        "Beside a resource the gateway keeps two more paths: a route there is refused with its line",
        arguments: ["/authorize", "/authorize/x", "/register", "/authorized"])
    func keptPathsBesideResource(path: String) {
        let route = "routes:\n  - {path: \(path), upstream: 'http://a:1', require: none}\n"
        let resource = "  - {path: /mcp, upstream: 'http://a:1', resource: {name: Tools}}\n"
        #expect(faults(route).isEmpty)
        for yaml in [route + resource, route + "runtime: {mcp: true}\n"] {
            let found = faults(yaml)
            #expect(found.count == (path == "/authorized" ? 0 : 1), "\(found)")
            let isNamed = found.allSatisfy { $0.contains("keeps this path") && $0.contains(":2:") }
            #expect(isNamed, "\(found)")
        }
        let decided = "routes:\n  - {path: \(path)}\n" + resource
        #expect(faults(decided).isEmpty)
    }

    @Test("Two hosts have no resources at one path, because a token for one would open the other")
    func doubledResources() {
        let resource = "resource: {name: Tools}"
        func found(_ first: String, _ second: String, _ more: String = "") -> [String] {
            faults("routes:\n  - {\(first), \(resource)}\n  - {\(second), \(resource)}\n" + more)
        }
        let doubled = "same resource; resources are told apart by their path, and not by 'host': use another path"
        #expect(
            found("path: /mcp, host: a.example", "path: /mcp, host: b.example") == [
                "g.yaml:3:45: routes[1].resource: routes[0] is the \(doubled)"
            ])
        #expect(found("path: /mcp, host: a.example, methods: [GET]", "path: /mcp, methods: [POST]").count == 1)
        let tools = found("path: /mcp, host: a.example", "path: /other", "runtime: {mcp: true}\n")
        #expect(tools == ["g.yaml:2:45: routes[0].resource: 'runtime.mcp' is the \(doubled)"])
        #expect(found("path: /mcp, methods: [GET]", "path: /mcp, methods: [POST]").isEmpty)
        #expect(found("path: /a, host: a.example", "path: /b, host: b.example").isEmpty)
        #expect(faults("routes: [{path: /a, host: a.example, \(resource)}, {path: /a}]\n").isEmpty)
        // A gateway that is built by a program is not read from a file.
        var route = RouteConfiguration(path: "/mcp")
        route.resource = RouteConfiguration.Resource()
        var configuration = GatewayConfiguration()
        configuration.routes = [route, route]
        configuration.routes[1].host = "b.example"
        let error = #expect(throws: ConfigurationError.self) { try configuration.checkResources() }
        #expect(error?.code == .resourceDoubled && error?.key == "routes[1].resource")
    }

    @Test("Every key of a route is read")
    func readsRoutes() throws {
        let yaml = """
            routes:
              - path: /a/
                host: Shop.example
                methods: [get, POST]
                upstream: [http://a:1, http://b:2]
                require: token
                scopes: [x:r, x:w]
                audience: shop
                strip_prefix: true
                websocket: true
                lease: true
                timeout: 5s
                max_body: 1MiB
                cors: upstream
                login_url: /login
                encoded_slash: true
                forward_authorization: true
                headers: {X-Api-Key: s3cret, X-Env: prod}
            """
        let route = try #require(try load(yaml).configuration.routes.first)
        var expected = RouteConfiguration(path: "/a")
        expected.host = "shop.example"
        expected.methods = ["GET", "POST"]
        expected.upstreams = ["http://a:1", "http://b:2"]
        expected.require = .token
        expected.scopes = ["x:r", "x:w"]
        expected.audience = "shop"
        expected.stripPrefix = true
        expected.webSocket = true
        expected.lease = true
        expected.timeout = 5_000
        expected.maxBody = 1_048_576
        expected.cors = .upstream
        expected.loginURL = "/login"
        expected.encodedSlash = true
        expected.forwardAuthorization = true
        expected.headers = [.init(name: "X-Api-Key", value: "s3cret"), .init(name: "X-Env", value: "prod")]
        #expect(route == expected)
    }

    @Test(
        "A wrong route is told by place and number",
        arguments: [
            ("routes: {}\n", "g.yaml:1:9: routes: expected a list: begin each entry with '- '"),
            ("routes: [x]\n", "g.yaml:1:10: routes[0]: expected keys and values"),
            ("routes: [{upstream: 'http://a:1'}]\n", "g.yaml:1:10: routes[0]: missing 'path'"),
            (
                "routes: [{path: /a}, {path: /b, websoket: true}]\n",
                "g.yaml:1:33: unknown key 'routes[1].websoket': did you mean 'routes[1].websocket'?"
            ),
            (
                "routes: [{path: /a, scopes: [b, 'c d']}]\n",
                "g.yaml:1:33: routes[0].scopes[1]: expected one scope, without spaces or quotes, found 'c d'"
            ),
            (
                "routes: [{path: /a, require: session, scopes: [b]}]\n",
                "g.yaml:1:47: routes[0].scopes: 'scopes' are read from a token: use 'require: token' or 'token+session'"
            ),
            (
                "routes: [{path: /a}, {path: /a/}]\n",
                "g.yaml:1:22: routes[1]: the same path, host and method as the route at g.yaml:1:10: "
                    + "one would never be used"
            ),
            (
                "routes: [{path: /a, methods: []}]\n",
                "g.yaml:1:30: routes[0].methods: expected at least one; leave the key out for any"
            ),
            (
                "routes: [{path: /a, methods: ['*']}]\n",
                "g.yaml:1:31: routes[0].methods[0]: expected a method such as GET; TRACE and CONNECT are never forwarded, "
                    + "found '*'"
            ),
            (
                "routes: [{path: /a, upstream: []}]\n",
                "g.yaml:1:31: routes[0].upstream: expected at least one; leave the key out for none"
            ),
        ])
    func tellsFaults(yaml: String, fault: String) {
        #expect(faults(yaml) == [fault])
    }

    @Test("Routes that differ in host or method may share a path")
    func allowsDistinctRoutes() throws {
        let yaml = """
            routes:
              - {path: /a, methods: [GET]}
              - {path: /a, methods: [POST]}
              - {path: /a, host: b.example}
              - {path: /a}
            """
        #expect(try load(yaml).configuration.routes.count == 4)
    }

    @Test(
        "A route can't write what the gateway writes, or what frames a message",
        arguments: [
            "Host: x", "Connection: close", "Transfer-Encoding: chunked", "content-length: '1'",
            "X-Gatehouse-User: root", "X-Forwarded-For: 1.2.3.4", "X_Api: a", "'X Y': a", "X-A: \"a\\r\\nB: c\"",
        ])
    func refusesHeaders(header: String) {
        #expect(faults("routes: [{path: /a, headers: {\(header)}}]\n").count == 1)
    }

    @Test("An issuer needs a name, keys and an audience, and speaks for no tenant unless told")
    func readsIssuers() throws {
        let yaml = "issuers: [{issuer: 'https://idp.example', jwks: 'https://idp.example/k', audience: me}]\n"
        let loaded = try load(yaml)
        let issuer = try #require(loaded.configuration.issuers.first)
        #expect(
            issuer
                == IssuerConfiguration(issuer: "https://idp.example", jwks: "https://idp.example/k", audience: ["me"]))
        #expect(issuer.tenants.isEmpty)
        #expect(loaded.warnings.map(\.key) == ["issuers[0].tenants"])
        #expect(faults("issuers: [{}]\n").count == 3)
    }

    @Test("An issuer without TLS is told, and accepted")
    func warnsOfPlainIssuers() throws {
        let yaml = "issuers: [{issuer: 'http://idp', jwks: k.json, audience: a, tenants: [t]}]\n"
        #expect(try load(yaml).warnings.map(\.key) == ["issuers[0]"])
    }
}
