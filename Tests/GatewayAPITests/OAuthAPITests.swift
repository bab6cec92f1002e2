import BasicsForTests
import EdgeConfiguration
import Encodings
import SecurityGuard
import StateSurface
import Testing

@Suite("OAuth endpoints")
struct OAuthAPITests {
    @Test("A client gets a token of its own, by Basic or in the body")
    func clientCredentials() async throws {
        let fixture = try await APIFixture()
        let client = try await fixture.client()
        let basic = try await fixture.send(
            "POST", "/oauth2/token", Ask("grant_type=client_credentials", basic: "\(client.id):\(client.secret)"))
        #expect(basic.status == 200)
        #expect(basic.text("token_type") == "Bearer" && basic.text("scope") == "read")
        #expect(basic.header("Cache-Control") == "no-store")
        let body = "grant_type=client_credentials&client_id=\(client.id)&client_secret=\(client.secret)"
        #expect(try await fixture.send("POST", "/oauth2/token", Ask(body)).status == 200)
        let session = try await fixture.send("POST", "/api/session/create", Ask(token: basic.token))
        #expect(session.text("user_id") == client.id)
        let scope = try await fixture.send("POST", "/oauth2/token", Ask(body + "&scope=admin"))
        #expect(scope.status == 400 && scope.error == "invalid_scope")
    }

    @Test(
        "What is wrong with a token request is told in RFC 6749's words",
        arguments: [
            ("grant_type=password", "unsupported_grant_type", 400),
            ("", "invalid_request", 400),
            ("grant_type=refresh_token", "invalid_request", 400),
            ("grant_type=refresh_token&grant_type=refresh_token", "invalid_request", 400),
            ("grant_type=refresh_token&refresh_token=ref_x", "invalid_grant", 400),
            ("grant_type=client_credentials", "invalid_client", 401),
            ("grant_type=client_credentials&client_id=cli_x&client_secret=y", "invalid_client", 401),
            ("grant_type=%zz", "invalid_request", 400),
        ])
    func refusals(body: String, error: String, status: Int) async throws {
        let answer = try await APIFixture().send("POST", "/oauth2/token", Ask(body))
        #expect(answer.error == error)
        #expect(answer.status == status)
        #expect(answer.text("error_description") != nil)
        if status == 401 { #expect(answer.header("WWW-Authenticate")?.hasPrefix("Basic ") == true) }
    }

    @Test(
        "A client that only names itself is told the same, be it unknown, disabled or one with a secret",
        arguments: ["/oauth2/token", "/oauth2/revoke"])
    func namedOnly(path: String) async throws {
        let fixture = try await APIFixture { $0.errors.explain = true }
        let worker = try await fixture.client()
        let disabled = try await fixture.guarding.clients.addPublic(
            name: "app", tenantID: "acme", scope: ["read"], redirectURIs: [])
        func ask(_ id: String) async throws -> Answer {
            try await fixture.send(
                "POST", path, Ask("grant_type=refresh_token&refresh_token=ref_x&token=x&client_id=\(id)"))
        }
        #expect(try await ask(disabled.clientID).error != "invalid_client")
        #expect(
            try await fixture.state.disable(
                clientID: disabled.clientID, at: fixture.clock.read(), revokedUntil: .max))
        let (unknown, ended, secretive) = (
            try await ask("cli_unknown"), try await ask(disabled.clientID), try await ask(worker.id)
        )
        for answer in [unknown, ended, secretive] {
            #expect(answer.status == 401 && answer.error == "invalid_client")
            #expect(
                answer.text("error_description") == "The client is unknown, disabled or has to authenticate itself.")
        }
        // Byte for byte, the reason included, which is told here.
        #expect(unknown.bytes == ended.bytes && unknown.text("reason") == "client_unknown_or_disabled")
        #expect(secretive.text("reason") == "secret_missing")
    }

    @Test("A password login's refresh token works for the public client only")
    func refresh() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let client = try await fixture.client()
        let login = try await fixture.login()
        let body = "grant_type=refresh_token&refresh_token=\(login.refreshToken ?? "")"
        let foreign = try await fixture.send("POST", "/oauth2/token", Ask(body, basic: "\(client.id):\(client.secret)"))
        #expect(foreign.status == 400 && foreign.error == "invalid_grant")
        let wide = try await fixture.send("POST", "/oauth2/token", Ask(body + "&scope=admin"))
        #expect(wide.error == "invalid_scope")
        let good = try await fixture.send("POST", "/oauth2/token", Ask(body + "&client_id=gatehouse"))
        #expect(good.status == 200 && good.refreshToken != login.refreshToken)
    }

    private static let resources = ["&resource=https://gate.example/mcp", "&resource=https://a.example&resource=b"]

    @Test("A client's own token is for no resource", arguments: resources)
    func clientResource(_ resource: String) async throws {
        let fixture = try await APIFixture()
        let client = try await fixture.client()
        func ask(_ more: String) async throws -> Answer {
            let body = "grant_type=client_credentials" + more
            return try await fixture.send("POST", "/oauth2/token", Ask(body, basic: "\(client.id):\(client.secret)"))
        }
        let refused = try await ask(resource)
        #expect(refused.status == 400 && refused.error == "invalid_target")
        // A parameter without a value counts as absent.
        let empty = try await ask("&resource=")
        #expect(empty.status == 200)
    }

    @Test("The refresh token of a login is for no resource, and is not used up by asking", arguments: resources)
    func refreshResource(_ resource: String) async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let login = try await fixture.login()
        let body = "grant_type=refresh_token&refresh_token=\(login.refreshToken ?? "")"
        let refused = try await fixture.send("POST", "/oauth2/token", Ask(body + resource))
        #expect(refused.status == 400 && refused.error == "invalid_target")
        let good = try await fixture.send("POST", "/oauth2/token", Ask(body + "&resource="))
        #expect(good.status == 200 && good.refreshToken != login.refreshToken)
    }

    @Test("Introspection and revocation ask for the client first")
    func introspection() async throws {
        let fixture = try await APIFixture()
        _ = try await fixture.account()
        let client = try await fixture.client()
        let login = try await fixture.login()
        let basic = "\(client.id):\(client.secret)"
        #expect(try await fixture.send("POST", "/oauth2/introspect", Ask("token=\(login.token)")).status == 401)
        let active = try await fixture.send("POST", "/oauth2/introspect", Ask("token=\(login.token)", basic: basic))
        #expect(active.json["active"] == true)
        let unknown = try await fixture.send("POST", "/oauth2/introspect", Ask("token=nonsense", basic: basic))
        #expect(unknown.bytes == Array(#"{"active":false}"#.utf8))
        let revoke = try await fixture.send(
            "POST", "/oauth2/revoke", Ask("token=\(login.refreshToken ?? "")", basic: basic))
        #expect(revoke.status == 200)
        #expect(try await fixture.send("GET", "/api/auth/me", Ask(token: login.token)).status == 401)
        #expect(try await fixture.send("POST", "/oauth2/revoke", Ask("token=nonsense", basic: basic)).status == 200)
        #expect(try await fixture.send("GET", "/oauth2/introspect").status == 405)
    }

    @Test("The key set is public, cacheable and answers to its entity tag")
    func keys() async throws {
        let fixture = try await APIFixture()
        let keys = try await fixture.send("GET", "/.well-known/jwks.json")
        #expect(keys.status == 200 && keys.json["keys"]?.arrayValue?.isEmpty == false)
        #expect(keys.header("Cache-Control") == "public, max-age=300")
        var ask = Ask()
        ask.ifNoneMatch = "\"other\", W/" + (keys.header("ETag") ?? "")
        let same = try await fixture.send("GET", "/.well-known/jwks.json", ask)
        #expect(same.status == 304 && same.bytes.isEmpty)
        let head = try await fixture.send("HEAD", "/.well-known/jwks.json")
        #expect(head.status == 200 && head.bytes.isEmpty)
    }

    @Test("The metadata names the configured issuer and only endpoints that are there")
    func metadata() async throws {
        let fixture = try await APIFixture()
        let document = try await fixture.send("GET", "/.well-known/oauth-authorization-server")
        #expect(document.text("issuer") == "https://gate.example")
        for (name, value) in document.json.members where name.hasSuffix("_endpoint") {
            let path = String(value.stringValue?.dropFirst("https://gate.example".count) ?? "")
            #expect(try await fixture.send("PUT", path).status == 405, "\(name)")
        }
    }
}
