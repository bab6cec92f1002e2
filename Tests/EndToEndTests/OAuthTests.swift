import Foundation
import Testing

/// The endpoints and documents that OAuth libraries look for.
@Suite(.blocking) struct OAuthTests {
    private static let unlimited = "limits:\n  enabled: false\n"

    /// A confidential client, as `gatehouse clients add` makes it.
    private struct Client {
        let id: String
        let secret: String

        init(_ gateway: any GatewayUnderTest, tenant: String = "acme", scopes: [String] = ["a", "b"]) throws {
            let scopes = scopes.flatMap { ["--scope", $0] }
            let added = try GatewayProcess.run(
                ["clients", "add", "service", "--tenant", tenant, "--json"] + scopes, in: gateway.directory)
            let json = try JSONSerialization.jsonObject(with: Data(added.output.utf8)) as? [String: Any]
            id = try #require(json?["client_id"] as? String)
            secret = try #require(json?["client_secret"] as? String)
        }

        var basic: (String, String) {
            ("Authorization", "Basic \(Data("\(id):\(secret)".utf8).base64EncodedString())")
        }
    }

    private static func error(_ answer: RawResponse) -> String? { answer.json["error"] as? String }

    @Test("A client gets a token for itself, within its scopes, by Basic or in the body but not by both")
    func clientCredentials() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [])
        defer { gateway.stop() }
        let client = try Client(gateway)
        let grant = ("grant_type", "client_credentials")
        let inBody = [("client_id", client.id), ("client_secret", client.secret)]
        func token(_ parameters: [(String, String)], _ headers: [(String, String)] = []) throws -> RawResponse {
            try gateway.form("/oauth2/token", parameters, headers: headers)
        }
        let answer = try token([grant], [client.basic])
        #expect(answer.status == 200 && answer.json["scope"] as? String == "a b")
        #expect(answer.json["token_type"] as? String == "Bearer" && answer["cache-control"] == "no-store")
        let me = try gateway.me(answer.json["access_token"] as? String ?? "")
        #expect(me.json["user_id"] as? String == client.id && me.json["email"] is NSNull)
        #expect(try token([grant, ("scope", "a")], [client.basic]).json["scope"] as? String == "a")
        expectStatus(try token([grant] + inBody), 200)

        let refusals: [(RawResponse, Int, String)] = [
            (try token([grant, ("scope", "a admin")], [client.basic]), 400, "invalid_scope"),
            (try token([grant] + inBody, [client.basic]), 400, "invalid_request"),
            (try token([grant, ("client_id", client.id), ("client_secret", "wrong")]), 401, "invalid_client"),
            (try token([grant]), 401, "invalid_client"),
            (try token([grant], [("Authorization", "Bearer x")]), 401, "invalid_client"),
            (try token([("grant_type", "password")], [client.basic]), 400, "unsupported_grant_type"),
            (try token([grant, grant], [client.basic]), 400, "invalid_request"),
            (try token([], [client.basic]), 400, "invalid_request"),
        ]
        for (answer, status, error) in refusals {
            #expect(answer.status == status && Self.error(answer) == error, "\(answer.text)")
            #expect(answer.json["error_description"] is String && answer["content-type"] == "application/json")
            if status == 401 { #expect(answer["www-authenticate"]?.contains("Bearer") == true) }
        }
        let asJSON = try gateway.request("POST", "/oauth2/token", headers: [client.basic], json: ["grant_type": "x"])
        #expect(asJSON.status == 415 && Self.error(asJSON) == "unsupported_media_type")
        let get = try gateway.request("GET", "/oauth2/token")
        #expect(get.status == 405 && get["allow"] == "POST")
        let foreign = try gateway.request("POST", "/oauth2/token", headers: [("Origin", "https://evil.example")])
        #expect(foreign.status == 403 && foreign.json["error"] as? String == "origin_refused" && foreign.code == nil)
    }

    @Test("The refresh grant rotates like the API does, never for another client and never to more scope")
    func refresh() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada])
        defer { gateway.stop() }
        let (client, ada) = (try Client(gateway), try gateway.login(.ada))
        let grant = [("grant_type", "refresh_token"), ("refresh_token", ada.refreshToken)]
        let foreign = try gateway.form("/oauth2/token", grant, headers: [client.basic])
        #expect(foreign.status == 400 && Self.error(foreign) == "invalid_grant")
        let wider = try gateway.form("/oauth2/token", grant + [("scope", "orders:read admin")])
        #expect(wider.status == 400 && Self.error(wider) == "invalid_scope")
        let answer = try gateway.form("/oauth2/token", grant)
        expectStatus(answer, 200, "the refusals used nothing up")
        #expect(try gateway.isHealthy(answer.json["access_token"] as? String ?? ""))
        expectStatus(try gateway.refresh(answer.json["refresh_token"] as? String ?? ""), 200)
    }

    @Test("Introspection and revocation need a client, tell it of its tenant only, and say nothing about the rest")
    func introspection() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada])
        defer { gateway.stop() }
        let (client, stranger) = (try Client(gateway), try Client(gateway, tenant: "other"))
        let ada = try gateway.login(.ada)
        func call(_ path: String, _ token: String, _ by: Client?) throws -> RawResponse {
            try gateway.form("/oauth2/\(path)", [("token", token)], headers: by.map { [$0.basic] } ?? [])
        }
        for path in ["introspect", "revoke"] {
            let answer = try call(path, ada.token, nil)
            #expect(answer.status == 401 && Self.error(answer) == "invalid_client")
            expectStatus(try gateway.request("GET", "/oauth2/\(path)", headers: [client.basic]), 405)
        }
        let known = try call("introspect", ada.token, client).json
        #expect(known["active"] as? Bool == true && known["sub"] as? String == ada.userID)
        for token in ["x", "a.b.c", String(ada.token.dropLast()), ada.sessionID, ada.sessionSecret] {
            #expect(try call("introspect", token, client).text == #"{"active":false}"#, "\(token.prefix(4))")
        }
        #expect(try call("introspect", ada.token, stranger).text == #"{"active":false}"#)

        for token in ["x", "a.b.c", "ref_\(String(repeating: "A", count: 43))"] {
            expectStatus(try call("revoke", token, client), 200, "unknown is as good as revoked")
        }
        for token in [ada.token, ada.refreshToken] { expectStatus(try call("revoke", token, stranger), 200) }
        #expect(try gateway.isHealthy(ada.token), "a stranger's revocation does nothing")
        expectStatus(try call("revoke", ada.refreshToken, client), 200)
        expectRefused(try gateway.me(ada.token), 401, "invalid_token")
        expectRefused(try gateway.refresh(ada.refreshToken), 401, "invalid_grant")
        #expect(try call("introspect", ada.token, client).text == #"{"active":false}"#)
        expectStatus(try gateway.attemptLogin(.ada), 200)
    }

    @Test("The metadata names only what works, and uses the issuer with any Host")
    func metadata() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [])
        defer { gateway.stop() }
        let socket = try RawSocket(port: gateway.port)
        try socket.send(
            "GET /.well-known/oauth-authorization-server HTTP/1.1\r\nHost: evil.example\r\n"
                + "X-Forwarded-Host: evil.example\r\n\r\n")
        let document = try socket.response()
        #expect(document.json["issuer"] as? String == gateway.origin && !document.text.contains("evil"))
        for name in ["token_endpoint", "introspection_endpoint", "revocation_endpoint"] {
            let url = try #require(document.json[name] as? String)
            #expect(url.hasPrefix(gateway.origin))
            let answer = try gateway.request("POST", String(url.dropFirst(gateway.origin.count)))
            #expect([400, 401].contains(answer.status), "\(name) is there")
        }
        let keys = try #require(document.json["jwks_uri"] as? String)
        expectStatus(try gateway.request("GET", String(keys.dropFirst(gateway.origin.count))), 200)
    }

    @Test("The key set is public, cacheable, and holds nothing private")
    func keySet() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [])
        defer { gateway.stop() }
        let path = "/.well-known/jwks.json"
        let answer = try gateway.request("GET", path)
        #expect(answer["cache-control"] == "public, max-age=300")
        let keys = try #require(answer.json["keys"] as? [[String: Any]])
        for key in keys { #expect(Set(key.keys).isDisjoint(with: ["d", "p", "q", "dp", "dq", "qi", "k", "oth"])) }
        let tag = try #require(answer["etag"])
        for list in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let unchanged = try gateway.request("GET", path, headers: [("If-None-Match", list)])
            #expect(unchanged.status == 304 && unchanged["etag"] == tag && unchanged.body.isEmpty, "\(list)")
        }
        expectStatus(try gateway.request("GET", path, headers: [("If-None-Match", "\"x\"")]), 200)
    }

    @Test("PyJWT verifies our token from our key set", .enabled(if: python("import jwt, cryptography") == 0))
    func pyJWT() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let script = """
            import jwt, sys
            token, issuer = sys.argv[1:]
            key = jwt.PyJWKClient(issuer + '/.well-known/jwks.json').get_signing_key_from_jwt(token).key
            claims = jwt.decode(token, key, algorithms=['ES256'], audience='gatehouse', issuer=issuer)
            assert jwt.get_unverified_header(token)['typ'] == 'at+jwt' and claims['tenant_id'] == 'acme'
            """
        #expect(python(script, ada.token, gateway.origin) == 0)
        #expect(python(script, "\(ada.token.dropLast(6))AAAAAA", gateway.origin) != 0)
    }
}

/// Runs a Python script; its exit status, -1 where there is no Python.
private func python(_ script: String, _ arguments: String...) -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script] + arguments
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return -1 }
    process.waitUntilExit()
    return process.terminationStatus
}
