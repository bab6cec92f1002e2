import Foundation
import GatewayForTests
import Testing

/// Tokens of another issuer, here a second gateway, on routes and sockets themselves.
@Suite(.blocking) struct ForeignTokensAtGateTests {
    /// The gateway under test, and the one whose tokens it accepts.
    private struct World {
        let gateway: GatewayInProcess
        let issuer: GatewayInProcess
        let upstream: RecordingUpstream

        init(
            _ keys: String = "discovery: true, allow_private: true, at_gate: true", users: [TestUser] = []
        ) async throws {
            upstream = try RecordingUpstream(script: RecordingUpstream.mirror)
            issuer = try await .start("tokens: {access_token_lifetime: 15m, clock_skew: 0s}")
            gateway = try await .start(
                """
                tokens: {clock_skew: 0s}
                errors: {explain: true}
                issuers:
                  - {issuer: "\(issuer.origin)", audience: gatehouse, tenants: [partner], \(keys)}
                routes:
                  - {path: /token, upstream: "\(upstream.url)", require: token, websocket: true}
                  - {path: /both, upstream: "\(upstream.url)", require: token+session, websocket: true}
                """)
        }

        func stop() {
            gateway.stop()
            issuer.stop()
            upstream.stop()
        }

        /// A session of the user that a foreign token stands for, by way of an exchange.
        func session(_ token: String) throws -> (id: String, userID: String, own: String) {
            let form =
                "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&subject_token=\(token)"
                + "&subject_token_type=urn:ietf:params:oauth:token-type:jwt"
            let exchanged = try gateway.request(
                "POST", "/oauth2/token", headers: [("Content-Type", "application/x-www-form-urlencoded")], body: form)
            let own = exchanged.json["access_token"] as? String ?? ""
            let made = try gateway.request(
                "POST", "/api/session/create", headers: [("Authorization", "Bearer \(own)")], json: [String: String]())
            return (made.json["session_id"] as? String ?? "", made.json["user_id"] as? String ?? "", own)
        }
    }

    @Test("They pass routes as a user of the issuer's tenant, the first time and from memory, and open no API")
    func routes() async throws {
        let world = try await World()
        defer { world.stop() }
        let (gateway, upstream) = (world.gateway, world.upstream)
        let theirs = try world.issuer.login(.ada)
        let ours = try gateway.login(.ada)
        var users: Set<String> = []
        for _ in 0..<3 {
            upstream.forget()
            #expect(try gateway.request("GET", "/token", headers: [theirs.bearer]).status == 200)
            let seen = try #require(upstream.requests.first)
            #expect(seen["x-gatehouse-tenant"] == "partner" && seen["authorization"] == nil)
            users.insert(seen["x-gatehouse-user"] ?? "")
        }
        #expect(users.count == 1 && users.isDisjoint(with: [theirs.userID, ours.userID, ""]))
        #expect(try gateway.request("GET", "/token", headers: [ours.bearer]).status == 200)
        let socket = try gateway.opened("/token", headers: [theirs.bearer])
        try socket.send(text: "hello")
        #expect(try socket.next() != nil)
        let closed = [("GET", "/api/auth/me"), ("POST", "/api/session/create"), ("GET", "/api/session")]
        for (method, path) in closed {
            let answer = try gateway.request(method, path, headers: [theirs.bearer])
            #expect(answer.status == 401 && answer.code == "invalid_token", "\(path): \(answer.text)")
        }
        // Not in the other direction: the issuer trusts no other gateway.
        #expect(try world.issuer.request("GET", "/api/auth/me", headers: [ours.bearer]).status == 401)
    }

    @Test("Forged, altered and expired ones are refused like the gateway's own")
    func refused() async throws {
        let world = try await World()
        defer { world.stop() }
        let theirs = try world.issuer.login(.ada)
        func verdict(_ token: String) throws -> String {
            let answer = try world.gateway.request("GET", "/token", headers: [("Authorization", "Bearer \(token)")])
            return answer.status == 200 ? "ok" : answer.code ?? ""
        }
        let parts = theirs.token.split(separator: ".").map(String.init)
        #expect(try verdict(parts[0] + "." + parts[1] + "." + String(parts[2].reversed())) == "invalid_token")
        let others = try world.gateway.login(.ada).token.split(separator: ".").map(String.init)
        #expect(try verdict(others[0] + "." + parts[1] + "." + others[2]) == "invalid_token")
        #expect(try verdict(theirs.token) == "ok")
        world.gateway.clock.advance(by: .seconds(15 * 60 + 1))
        #expect(try verdict(theirs.token) == "token_expired")
    }

    @Test(
        "Without at_gate, or with keys that may not be fetched, none is accepted",
        arguments: [
            "discovery: true, allow_private: true", "discovery: true, at_gate: true",
            "jwks: \"http://127.0.0.1:1/none\", allow_private: true, at_gate: true",
        ])
    func closed(keys: String) async throws {
        let world = try await World(keys)
        defer { world.stop() }
        let theirs = try world.issuer.login(.ada)
        let answer = try world.gateway.request("GET", "/token", headers: [theirs.bearer])
        #expect(answer.status == 401 && answer.code == "invalid_token", "\(answer.text)")
        #expect(world.upstream.requests.isEmpty)
    }

    @Test("A socket ends with its token, and a newer one of the same person extends it for this session alone")
    func extended() async throws {
        let world = try await World()
        defer { world.stop() }
        let gateway = world.gateway
        let (ada, bob) = (try world.issuer.login(.ada), try world.issuer.login(.bob))
        let (session, other) = (try world.session(ada.token), try world.session(ada.token))
        func open(_ id: String) throws -> WebSocketProbe {
            try gateway.opened("/both", headers: [ada.bearer, ("Session-Id", id)])
        }
        let (extended, expiring) = (try open(session.id), try open(other.id))
        let stranger = try gateway.socket("/both", headers: [bob.bearer, ("Session-Id", session.id)])
        #expect(stranger.answer.status == 403 && stranger.answer.code == "session_mismatch")

        world.issuer.clock.advance(by: .seconds(600))
        let newer = try world.issuer.refresh(ada.refreshToken).json["access_token"] as? String ?? ""
        func extend(_ id: String, _ token: String?) throws -> RawResponse {
            let fields = token.map { [("Authorization", "Bearer \($0)")] } ?? []
            return try gateway.request("POST", "/api/session/\(id)/extend", headers: fields)
        }
        let refusals: [(String, String?, Int, String)] = [
            (session.id, nil, 401, "credentials_missing"), (session.id, session.own, 401, "invalid_token"),
            (session.id, bob.token, 403, "session_mismatch"),
            ("ses_AAAAAAAAAAAAAAAAAAAAAA", newer, 403, "session_mismatch"),
            (session.id, session.id, 400, "credentials_swapped"),
        ]
        gateway.clock.advance(by: .seconds(600))
        for (id, token, status, code) in refusals {
            let answer = try extend(id, token)
            #expect(answer.status == status && answer.code == code, "\(answer.text)")
        }
        #expect(try extend(session.id, newer).status == 204)
        gateway.clock.advance(by: .seconds(301))
        #expect(try expiring.closing() == "4401 token_expired")
        try extended.send(text: "still here")
        #expect(try extended.next() != nil)
        gateway.clock.advance(by: .seconds(600))
        #expect(try extended.closing() == "4401 token_expired")
    }

    @Test("Disabling the user closes the socket and refuses the token")
    func disabled() async throws {
        let world = try await World()
        defer { world.stop() }
        let ada = try world.issuer.login(.ada)
        let socket = try world.gateway.opened("/token", headers: [ada.bearer])
        let userID = world.upstream.requests.last?["x-gatehouse-user"] ?? ""
        #expect(try GatewayProcess.run(["users", "disable", userID], in: world.gateway.directory).status == 0)
        let (took, end) = try seconds { try socket.closing() }
        #expect(end == "4401 token_revoked" && took < .promptly, "\(end ?? "") after \(took) s")
        #expect(try world.gateway.request("GET", "/token", headers: [ada.bearer]).status == 401)
        #expect(try world.gateway.isHealthy(world.gateway.login(.ada).token))
    }

    @Test("An issuer's metadata that names another issuer gives no keys")
    func foreignMetadata() async throws {
        let issuer = try await GatewayInProcess.start()
        defer { issuer.stop() }
        let keys = try issuer.request("GET", "/.well-known/jwks.json").text
        let liar = try RecordingUpstream { request, stream in
            let name = request["host"] ?? ""
            let isHonest = request.target.hasPrefix("/honest")
            let said = isHonest ? "http://\(name)/honest" : "http://\(name)/other"
            let body =
                request.target.hasSuffix("/keys")
                ? keys : #"{"issuer": "\#(said)", "jwks_uri": "http://\#(name)/keys"}"#
            try stream.send(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body
            )
            return .keep
        }
        defer { liar.stop() }
        let gateway = try await GatewayInProcess.start(
            """
            issuers:
              - {issuer: "\(liar.url)/lying", discovery: true, allow_private: true, at_gate: true, audience: a, tenants: [t]}
            routes: [{path: /token, upstream: "\(liar.url)", require: token}]
            """)
        defer { gateway.stop() }
        // A token that claims the lying issuer; its signature does not matter, since no key is found.
        let claims = Data(#"{"iss":"\#(liar.url)/lying","sub":"a","aud":"a","exp":4102444800}"#.utf8)
        let header = Data(#"{"alg":"ES256","kid":"k"}"#.utf8)
        func encoded(_ data: Data) -> String {
            data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let token = "\(encoded(header)).\(encoded(claims)).\(encoded(Data(count: 64)))"
        let answer = try gateway.request("GET", "/token", headers: [("Authorization", "Bearer \(token)")])
        #expect(answer.status == 401)
        #expect(liar.requests.contains { $0.target.contains("/.well-known/") })
        #expect(!liar.requests.contains { $0.target.hasSuffix("/keys") }, "no key set is asked for")
    }
}
