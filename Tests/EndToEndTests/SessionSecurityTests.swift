import Foundation
import Testing

/// What an attacker would try on sessions. Each refusal stands beside a request that must still succeed.
@Suite(.blocking) struct SessionSecurityTests {
    private static let unlimited = "limits:\n  enabled: false\n"

    @Test("Nothing that was known before a login opens the session after it")
    func fixation() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada, .eve])
        defer { gateway.stop() }
        let planted = try gateway.anonymous()
        let victim = try gateway.login(.ada, headers: [("Cookie", "gatehouse=\(planted.secret)")])
        #expect(victim.outcome == "upgraded" && victim.sessionID == planted.id)

        let attacker = try gateway.login(.eve)
        expectRefused(try gateway.session(planted.id, planted.field), 403, "session_mismatch")
        expectRefused(try gateway.current(planted.secret), 403, "session_mismatch")
        let byCookie = try gateway.request(
            "GET", "/api/session/current", headers: [("Cookie", "gatehouse=\(planted.secret)")])
        expectRefused(byCookie, 401, "credentials_missing")
        #expect(byCookie.cookies["gatehouse"]?.contains("Max-Age=0") == true, "a dead cookie is cleared")
        let path = "/api/session/\(planted.id)"
        expectRefused(try gateway.request("DELETE", path, headers: [planted.field]), 403, "session_mismatch")
        expectRefused(
            try gateway.request("POST", "/api/auth/logout", headers: [planted.field]), 403, "session_mismatch")
        expectRefused(try gateway.upgrade(planted, attacker.token), 409, "session_conflict")
        expectRefused(try gateway.attemptLogin(.eve, headers: [planted.field]), 409, "session_conflict")
        let named = try gateway.attemptLogin(.eve, also: ["session_id": planted.id])
        #expect(LoggedIn(named.json).outcome == "created" && LoggedIn(named.json).sessionID != planted.id)

        #expect(try gateway.isHealthy(victim.token))
        #expect(try gateway.current(victim.sessionSecret).json["user_id"] as? String == victim.userID)
    }

    @Test("A session id alone opens nothing, and a caller with another secret learns nothing")
    func address() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada, .bob])
        defer { gateway.stop() }
        let (ada, bob) = (try gateway.login(.ada), try gateway.login(.bob))
        let rows = [("GET", ""), ("DELETE", ""), ("PATCH", "/upgrade"), ("POST", "/ticket")]
        for (method, suffix) in rows {
            let path = "/api/session/\(ada.sessionID)\(suffix)"
            expectRefused(try gateway.request(method, path), 401, "credentials_missing", "\(method) \(suffix)")
        }
        let unknown = "ses_\(String(repeating: "A", count: 22))"
        let stray = ("Session-Secret", "sec_\(String(repeating: "A", count: 43))")
        let old = try gateway.anonymous()
        expectStatus(try gateway.upgrade(old, bob.token), 200)
        var answers = [RawResponse]()
        for id in [ada.sessionID, unknown, "nothing"] {
            for credential in [bob.bearer, stray, old.field] { answers.append(try gateway.session(id, credential)) }
        }
        answers.append(try gateway.session(old.id, old.field))
        expectRefused(answers[0], 403, "session_mismatch")
        #expect(Set(answers.map(\.comparable)).count == 1, "unknown, foreign and old can't be told apart")
        for (method, suffix) in [("DELETE", ""), ("POST", "/ticket")] {
            let answer = try gateway.request(method, "/api/session/\(ada.sessionID)\(suffix)", headers: [bob.bearer])
            #expect(answer.comparable == answers[0].comparable)
        }
        expectStatus(try gateway.session(ada.sessionID, ada.bearer), 200)
    }

    @Test("A credential in the place of another kind is refused before any lookup")
    func swapped() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let ticket = try gateway.request("POST", "/api/session/\(ada.sessionID)/ticket", headers: [ada.bearer])
        let values = [
            "token": ada.token, "id": ada.sessionID, "secret": ada.sessionSecret, "refresh": ada.refreshToken,
            "ticket": ticket.json["ticket"] as? String ?? "", "user": "usr_AAAAAAAAAAAAAAAAAAAAAA",
            "client": "cli_AAAAAAAAAAAAAAAAAAAAAA", "personal": "pat_" + String(repeating: "0", count: 49),
        ]
        let places: [(kind: String, method: String, path: String, field: String?, member: String?)] = [
            ("token", "GET", "/api/auth/me", "Authorization: Bearer ", nil),
            ("token", "POST", "/api/session/create", "Authorization: Bearer ", nil),
            ("secret", "GET", "/api/session/current", "Session-Secret: ", nil),
            ("secret", "GET", "/api/session/current", "Cookie: gatehouse=", nil),
            ("id", "GET", "/api/auth/me", "Session-Id: ", nil),
            ("refresh", "POST", "/api/auth/refresh", "Cookie: gatehouse-refresh=", nil),
            ("refresh", "POST", "/api/auth/refresh", nil, "refresh_token"),
            ("refresh", "POST", "/api/auth/logout", nil, "refresh_token"),
            ("token", "PATCH", "/api/session/\(ada.sessionID)/upgrade", nil, "access_token"),
            ("id", "GET", "/api/session/VALUE", nil, nil), ("id", "DELETE", "/api/session/VALUE", nil, nil),
            ("id", "POST", "/api/session/VALUE/ticket", nil, nil),
        ]
        for place in places {
            // A personal token is a token, where it is taken or not.
            for (kind, value) in values where kind != place.kind && (kind, place.kind) != ("personal", "token") {
                let field = place.field.map { text in
                    (text.components(separatedBy: ": ")[0], text.components(separatedBy: ": ")[1] + value)
                }
                let answer = try gateway.request(
                    place.method, place.path.replacingOccurrences(of: "VALUE", with: value),
                    headers: field.map { [$0] } ?? [], json: place.member.map { [$0: value] })
                expectRefused(answer, 400, "credentials_swapped", "\(kind) in \(place)")
            }
        }
        #expect(try gateway.isHealthy(ada.token))
        expectStatus(try gateway.refresh(ada.refreshToken), 200)
    }

    @Test("Two cookies of one name, or a live cookie beside another secret, are refused; a dead one is ignored")
    func cookies() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [])
        defer { gateway.stop() }
        let (one, other) = (try gateway.anonymous(), try gateway.anonymous())
        let path = "/api/session/current"
        func get(_ headers: (String, String)...) throws -> RawResponse {
            try gateway.request("GET", path, headers: headers)
        }
        let cookie = ("Cookie", "gatehouse=\(one.secret)")
        expectRefused(try get(("Cookie", "gatehouse=\(one.secret); gatehouse=x")), 400, "invalid_request")
        expectRefused(try get(cookie, cookie), 400, "invalid_request")
        expectRefused(try get(cookie, other.field), 400, "invalid_request")
        expectStatus(try get(cookie, one.field), 200, "the same secret twice is no contradiction")
        expectStatus(try gateway.request("DELETE", "/api/session/\(one.id)", headers: [one.field]), 204)
        let ignored = try get(cookie, other.field)
        #expect(ignored.json["session_id"] as? String == other.id)
        #expect(ignored.cookies["gatehouse"]?.contains("Max-Age=0") == true)
        let garbage = try get(("Cookie", "gatehouse=garbage"))
        expectRefused(garbage, 401, "credentials_missing")
        #expect(garbage.cookies["gatehouse"]?.contains("Max-Age=0") == true)
    }

    @Test("However many users race for one session, it gets one owner and keeps it")
    func race() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited)
        defer { gateway.stop() }
        let tokens = try TestUser.standard.map { try gateway.login($0).token }
        for _ in 0..<3 {
            let held = try gateway.anonymous()
            let jobs = (0..<60).map { index -> @Sendable () throws -> RawResponse in
                { try gateway.upgrade(held, tokens[index % 3]) }
            }
            let answers = try await together(jobs)
            #expect(Set(answers.map(\.status)) == [200, 409])
            let owners = Set(answers.compactMap { $0.json["user_id"] as? String })
            #expect(owners.count == 1)
            let winner = answers.filter { $0.status == 200 }.map { HeldSession($0.json).secret }
            let live = try winner.filter { try gateway.current($0).status == 200 }
            #expect(live.count == 1, "one secret opens it")
        }
    }

    @Test("An access token holds nothing of the session")
    func apart() async throws {
        let gateway = try await GatewayInProcess.start(Self.unlimited, users: [.ada])
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let inspected = try GatewayProcess.run(
            ["token", "inspect", "--json"], in: gateway.directory, input: ada.token, stateful: false)
        let json = try JSONSerialization.jsonObject(with: Data(inspected.output.utf8)) as? [String: Any]
        let claims = try #require(json?["claims"] as? [String: Any])
        let expected = "iss sub aud exp nbf iat jti client_id tenant_id scope fid auth_time email"
        #expect(Set(claims.keys) == Set(expected.components(separatedBy: " ")))
        for value in claims.values {
            #expect(!"\(value)".contains(ada.sessionID.dropFirst(4)) && !ada.sessionID.contains("\(value)"))
        }
    }
}
