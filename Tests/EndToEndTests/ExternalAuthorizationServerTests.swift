import Foundation
import GatewayForTests
import Testing

/// Another authorization server in the gateway's place: `resource.authorization_servers`. Here it is a second gateway,
/// whose key signs the tokens.
@Suite(.blocking) struct ExternalAuthorizationServerTests {
    private struct World {
        let server: GatewayInProcess
        let gateway: GatewayInProcess
        let upstream: RecordingUpstream
        private let issuer: String

        /// - Parameter issuer: further keys of the entry in `issuers`.
        init(_ issuer: String = "") async throws {
            self.issuer = issuer
            upstream = try .ofAgents()
            server = try await .start()
            gateway = try await .start(Self.configuration(server.origin, upstream.url, issuer))
        }

        /// - Parameters:
        ///   - mcp: whether the other server grants `/mcp`, and not the gateway itself.
        ///   - own: whether it grants `/own`.
        private static func configuration(
            _ server: String, _ upstream: String, _ issuer: String, mcp: Bool = true, own: Bool = false
        ) -> String {
            let theirs = ", authorization_servers: [\"\(server)\"]"
            return """
                tokens: {clock_skew: 0s}
                limits: {enabled: false}
                issuers:
                  - {issuer: "\(server)", discovery: true, allow_private: true, audience: [general],
                     tenants: [partner], scopes: [read, write]\(issuer)}
                routes:
                  - {path: /mcp, upstream: "\(upstream)", scopes: [read],
                     resource: {name: Tools, scopes: [read]\(mcp ? theirs : "")}}
                  - {path: /more, upstream: "\(upstream)", resource: {name: More, scopes: [read]\(theirs)}}
                  - {path: /own, upstream: "\(upstream)", resource: {name: Own, scopes: [read]\(own ? theirs : "")}}
                  - {path: /plain, upstream: "\(upstream)", require: token}
                """
        }

        /// From now on the two have changed places: the gateway grants `/mcp`, the other server `/own`.
        func swap() async throws {
            try await gateway.change(
                to: Self.configuration(server.origin, upstream.url, issuer, mcp: false, own: true))
        }

        /// An open stream of a resource.
        func stream(_ token: String, _ path: String = "/mcp") throws -> RawSocket {
            let socket = try RawSocket(port: gateway.port)
            try socket.send("GET \(path)/stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n\r\n")
            var seen = ""
            while !seen.hasSuffix("data: 1\n\n\r\n") { seen += String(decoding: try socket.read(1), as: UTF8.self) }
            return socket
        }

        var resource: String { gateway.origin + "/mcp" }

        func stop() {
            gateway.stop()
            server.stop()
            upstream.stop()
        }

        /// A token of the other server.
        func token(
            _ subject: String = "usr_ada", audience: [String], scopes: [String] = ["read"], client: String = "agent-7",
            lifetime: String = "15m"
        ) throws -> String {
            var arguments = [
                "token", "issue", "--subject", subject, "--tenant", "elsewhere", "--issuer", server.origin, "--claim",
                "client_id=\(client)", "--lifetime", lifetime, "--keys", server.directory.path + "/keys",
            ]
            for name in audience { arguments += ["--audience", name] }
            for scope in scopes { arguments += ["--scope", scope] }
            let made = try GatewayProcess.run(arguments, in: server.directory)
            return try #require(made.output.split(separator: "\n").first.map(String.init), "\(made.errors)")
        }

        func call(
            _ token: String, _ path: String = "/mcp", _ headers: [(String, String)] = [], method: String = "GET"
        ) throws -> RawResponse {
            try gateway.request(method, path, headers: [("Authorization", "Bearer \(token)")] + headers)
        }
    }

    @Test("The metadata names it, its tokens for the resource pass, with identity and client, and nothing of the token")
    func accepted() async throws {
        let world = try await World()
        defer { world.stop() }
        let metadata = try world.gateway.request("GET", "/.well-known/oauth-protected-resource/mcp")
        #expect(metadata.json["authorization_servers"] as? [String] == [world.server.origin])
        let own = try world.gateway.request("GET", "/.well-known/oauth-protected-resource/own")
        #expect(own.json["authorization_servers"] as? [String] == [world.gateway.origin])
        let token = try world.token(audience: [world.resource], scopes: ["read", "write", "admin"])
        for _ in 0..<3 {
            world.upstream.forget()
            expectStatus(try world.call(token), 200)
            let seen = try #require(world.upstream.requests.first)
            #expect(seen["x-gatehouse-tenant"] == "partner" && seen["x-gatehouse-user"]?.hasPrefix("usr_") == true)
            #expect(seen["x-gatehouse-client"] == "agent-7" && seen["x-gatehouse-scope"] == "read")
            #expect(seen["authorization"] == nil && seen["x-gatehouse-assertion"] != nil)
        }
        let refused = try world.gateway.request("GET", "/mcp")
        #expect(refused.status == 401 && refused["www-authenticate"]?.contains("resource_metadata=") == true)
    }

    @Test("Tokens for anything else do not pass, and tokens for the resource pass nowhere else")
    func audience() async throws {
        let world = try await World(", at_gate: true")
        defer { world.stop() }
        let (gateway, resource) = (world.gateway, world.resource)
        let wrong = [
            ["general"], [world.server.origin + "/mcp"], [resource + "/"], [resource.uppercased()],
            [resource, gateway.origin + "/own"], [gateway.origin + "/own"],
        ]
        for audience in wrong {
            let answer = try world.call(try world.token(audience: audience))
            #expect(answer.status == 401 && answer.code == "invalid_token", "\(audience): \(answer.text)")
        }
        expectStatus(try world.call(try world.token(audience: ["general"]), "/plain"), 200)
        expectStatus(try world.call(try world.token(audience: ["general"]), "/own"), 401)
        for audience in [[resource], [resource, "general"]] {
            let token = try world.token(audience: audience)
            expectStatus(try world.call(token), 200)
            for path in ["/plain", "/own", "/api/auth/me", "/api/auth/tokens", "/api/session"] {
                expectStatus(try world.call(token, path), 401)
            }
            // It can't be made into a token of the gateway's either.
            let exchanged = try gateway.form(
                "/oauth2/token",
                [
                    ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"), ("subject_token", token),
                    ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
                ])
            expectStatus(exchanged, 400)
            let signedIn = try gateway.request("POST", "/api/auth/login", json: ["subject_token": token])
            expectStatus(signedIn, 401)
        }
        // The gateway grants no access to that resource, and its own tokens do not pass there.
        let ada = try gateway.login(.ada)
        expectStatus(try world.call(ada.token), 401)
        let personal = try gateway.request(
            "POST", "/api/auth/tokens", headers: [ada.bearer],
            json: ["name": "x", "scopes": ["read"], "expires_in": 60, "resource": resource])
        expectStatus(personal, 404)
    }

    @Test("A scope that the token does not have, or that 'issuers' does not let it have, is asked for by a challenge")
    func scopes() async throws {
        let world = try await World()
        defer { world.stop() }
        for scopes in [[], ["write"], ["admin"]] as [[String]] {
            let answer = try world.call(try world.token(audience: [world.resource], scopes: scopes))
            #expect(answer.status == 403 && answer.code == "insufficient_scope", "\(answer.text)")
            #expect(answer["www-authenticate"]?.contains("scope=\"read\"") == true)
        }
    }

    @Test(
        "The name of a client of the gateway's own is not taken over from such a token", arguments: ["pat", "cli_AAAA"])
    func names(_ client: String) async throws {
        let world = try await World()
        defer { world.stop() }
        expectStatus(try world.call(try world.token(audience: [world.resource], client: client)), 200)
        #expect(world.upstream.requests.last?["x-gatehouse-client"] == "gatehouse")
    }

    @Test("Protocol sessions belong to subject and client, and a stream ends with its token and with the account")
    func sessionsAndLeases() async throws {
        let world = try await World()
        defer { world.stop() }
        let mine = try world.token(audience: [world.resource])
        expectStatus(try world.call(mine, "/mcp", [("X-Open", "s1")]), 200)
        expectStatus(
            try world.call(try world.token(audience: [world.resource]), "/mcp", [("Mcp-Session-Id", "s1")]), 200)
        let others = [
            try world.token("usr_bob", audience: [world.resource]),
            try world.token(audience: [world.resource], client: "agent-8"),
        ]
        for other in others { expectStatus(try world.call(other, "/mcp", [("Mcp-Session-Id", "s1")]), 404) }
        let user = try #require(world.upstream.requests.last?["x-gatehouse-user"])
        let disabled = try world.stream(mine)
        #expect(try GatewayProcess.run(["users", "disable", user], in: world.gateway.directory).status == 0)
        #expect(!String(decoding: try disabled.readToEnd(), as: UTF8.self).hasSuffix("0\r\n\r\n"))
        expectStatus(try world.call(mine), 401)
        let short = try world.stream(try world.token("usr_bob", audience: [world.resource], lifetime: "5m"))
        world.gateway.clock.advance(by: .seconds(301))
        #expect(!String(decoding: try short.readToEnd(), as: UTF8.self).hasSuffix("0\r\n\r\n"))
    }

    @Test("A reload that gives a resource to another server ends the streams and refuses the tokens of the former")
    func reload() async throws {
        let world = try await World()
        defer { world.stop() }
        let theirs = try world.token(audience: [world.resource])
        let more = try world.token(audience: [world.gateway.origin + "/more"])
        let made = try world.gateway.request(
            "POST", "/api/auth/tokens", headers: [try world.gateway.login(.ada).bearer],
            json: ["name": "x", "scopes": ["read"], "expires_in": 600, "resource": world.gateway.origin + "/own"])
        let own = try #require(made.json["token"] as? String, "\(made.text)")
        let gone = [try world.stream(theirs), try world.stream(own, "/own")]
        let stays = try world.stream(more, "/more")
        try await world.swap()
        for stream in gone {
            #expect(!String(decoding: try stream.readToEnd(), as: UTF8.self).hasSuffix("0\r\n\r\n"))
        }
        expectStatus(try world.call(theirs), 401)
        expectStatus(try world.call(own, "/own"), 401)
        // The same issuer is still that of another resource, whose stream goes on.
        expectStatus(try world.call(more, "/more"), 200)
        #expect(stays.isQuiet)
    }

    @Test(
        "config check refuses an authorization server that is not trusted for one tenant",
        arguments: [
            "[]", "[{issuer: https://as.example, jwks: https://as.example/keys, audience: [a], tenants: [a, b]}]",
        ])
    func check(_ issuers: String) throws {
        let place = try GatewayProcess.makeDirectory()
        try """
        tokens: {issuer: "https://gate.example"}
        issuers: \(issuers)
        routes:
          - {path: /mcp, upstream: "http://127.0.0.1:1",
             resource: {name: Tools, authorization_servers: ["https://as.example"]}}
        """.write(toFile: place.path + "/g.yaml", atomically: true, encoding: .utf8)
        let found = try GatewayProcess.run(["config", "check", "--config", "g.yaml"], in: place, stateful: false)
        #expect(found.status == 2 && found.errors.contains("authorization_servers"), "\(found.errors)")
    }
}
