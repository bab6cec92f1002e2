import Foundation
import SecurityGuard
import Testing

/// `POST /api/auth/login`: what it makes of a session, and what it keeps to itself.
@Suite(.blocking) struct LoginTests {
    @Test("A login upgrades, resumes or creates, and never touches a session it has no secret of")
    func outcomes() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada, .bob])
        defer { gateway.stop() }
        let made = try gateway.attemptLogin(.ada)
        let members = [
            "access_token", "token_type", "expires_in", "refresh_token", "session_id", "session_secret", "session",
            "user_id", "tenant_id",
        ]
        #expect(Set(made.json.keys) == Set(members))
        #expect(made.json["token_type"] as? String == "Bearer" && made.json["expires_in"] as? Int == 900)
        let first = LoggedIn(made.json)
        #expect(first.outcome == "created")

        let resumed = try gateway.login(.ada, headers: [("Session-Secret", first.sessionSecret)])
        #expect(resumed.outcome == "resumed" && resumed.sessionID == first.sessionID)
        expectRefused(try gateway.me(first.token), 401, "invalid_token", "the old family is dead")
        expectRefused(try gateway.refresh(first.refreshToken), 401, "invalid_grant")
        expectRefused(try gateway.current(first.sessionSecret), 403, "session_mismatch")

        let foreign = try gateway.attemptLogin(.bob, headers: [("Session-Secret", resumed.sessionSecret)])
        expectRefused(foreign, 409, "session_conflict")
        #expect(try gateway.isHealthy(resumed.token))

        let (named, other) = (try gateway.anonymous(), try gateway.anonymous())
        for headers in [[], [other.field]] {
            let answer = LoggedIn(
                try gateway.attemptLogin(.ada, headers: headers, also: ["session_id": named.id]).json)
            #expect(answer.outcome == "created" && ![named.id, other.id].contains(answer.sessionID))
        }
        expectStatus(try gateway.current(named.secret), 200, "the session named is left alone")
        let own = try gateway.attemptLogin(.ada, headers: [named.field], also: ["session_id": named.id])
        #expect(LoggedIn(own.json).outcome == "upgraded" && LoggedIn(own.json).sessionID == named.id)
    }

    // One login a user: the owner may repeat a login with the secret of before, and then resumes the session.
    @Test("Of users racing for one anonymous session exactly one wins it, the others are told of the conflict")
    func race() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n")
        defer { gateway.stop() }
        for _ in 0..<5 {
            let held = try gateway.anonymous()
            let jobs = TestUser.standard.map { user -> @Sendable () throws -> RawResponse in
                { try gateway.attemptLogin(user, headers: [held.field]) }
            }
            let answers = try await together(jobs)
            let winners = answers.filter { $0.status == 200 }
            #expect(winners.count == 1)
            let winner = LoggedIn(try #require(winners.first).json)
            #expect(winner.sessionID == held.id && winner.outcome == "upgraded")
            for loser in answers where loser.status != 200 { expectRefused(loser, 409, "session_conflict") }
            #expect(try gateway.isHealthy(winner.token))
            expectStatus(try gateway.current(winner.sessionSecret), 200)
        }
    }

    @Test("Unknown, disabled and wrong are one answer")
    func enumeration() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada, .eve])
        defer { gateway.stop() }
        let disabled = try GatewayProcess.run(["users", "disable", TestUser.eve.email], in: gateway.directory)
        #expect(disabled.status == 0)
        let wrong = TestUser(email: TestUser.ada.email, password: "wrong", tenant: "acme")
        let unknown = TestUser(email: "nobody@example.com", password: "wrong", tenant: "acme")
        let answers =
            try [wrong, unknown, .eve].map { try gateway.attemptLogin($0) }
            + [try gateway.attemptLogin(.ada, also: ["tenant_id": "other"])]
        expectRefused(answers[0], 401, "invalid_credentials")
        #expect(Set(answers.map(\.comparable)).count == 1)
        expectStatus(try gateway.attemptLogin(.ada, also: ["tenant_id": "acme"]), 200)
    }

    @Test("An e-mail of several tenants needs the tenant")
    func tenants() async throws {
        let twin = TestUser(email: TestUser.ada.email, password: "another one", tenant: "second")
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        try await TestAccounts.add([twin], url: GatewayProcess.stateURL(gateway.directory))
        expectRefused(try gateway.attemptLogin(.ada), 401, "invalid_credentials")
        for user in [TestUser.ada, twin] {
            let answer = try gateway.attemptLogin(user, also: ["tenant_id": user.tenant])
            #expect(answer.status == 200 && answer.json["tenant_id"] as? String == user.tenant)
        }
    }

    @Test("Failures are limited per account and address, however the name is written; successes are not")
    func limits() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  login_per_minute: 5\n", users: [.ada, .bob])
        defer { gateway.stop() }
        for _ in 0..<8 { expectStatus(try gateway.attemptLogin(.ada), 200, "a success does not count") }
        var wrong = TestUser(email: TestUser.bob.email, password: "wrong", tenant: "acme")
        let statuses = try (0..<7).map { _ in try gateway.attemptLogin(wrong).status }
        #expect(statuses.prefix(5).allSatisfy { $0 == 401 } && statuses.last == 429, "\(statuses)")
        wrong.email = "BOB@example.COM"
        let limited = try gateway.attemptLogin(wrong, headers: [("X-Forwarded-For", "203.0.113.7")])
        expectRefused(limited, 429, "rate_limited")
        #expect(Int(limited["retry-after"] ?? "") ?? 0 > 0)
        expectStatus(try gateway.attemptLogin(.ada), 200, "another account goes on")
    }

    @Test(
        "Anonymous sessions are limited per address, and nothing is once limits are lifted", arguments: [true, false])
    func flood(enabled: Bool) async throws {
        let gateway = try await GatewayInProcess.start(
            "limits:\n  enabled: \(enabled)\n  anonymous_per_minute: 5\n", users: [])
        defer { gateway.stop() }
        let answers = try (0..<20).map { _ in try gateway.request("POST", "/api/session/create-anonymous") }
        #expect(Set(answers.map(\.status)) == (enabled ? [200, 429] : [200]))
        if enabled { #expect(answers.last?["retry-after"] != nil) }
    }

    @Test("More logins than can be hashed are turned away with 503 and Retry-After; verified traffic goes on")
    func overload() async throws {
        // Dear enough that the first has not been hashed when the last arrives.
        let gateway = try await GatewayInProcess.start(
            "limits:\n  enabled: false\n", users: [.ada], passwordCost: ScryptParameters(logN: 14, r: 8, p: 1))
        defer { gateway.stop() }
        let ada = try gateway.login(.ada)
        let jobs = (0..<120).map { _ -> @Sendable () throws -> RawResponse in { try gateway.patientLogin(.ada) } }
        async let answers = together(jobs)
        for _ in 0..<20 { #expect(try gateway.isHealthy(ada.token)) }
        let refused = try await answers.filter { $0.status != 200 }
        #expect(!refused.isEmpty)
        for answer in refused {
            expectRefused(answer, 503, "overloaded")
            #expect(answer["retry-after"] != nil)
        }
        expectStatus(try gateway.attemptLogin(.ada), 200)
    }

    @Test("A changed password ends every session but the one that asked")
    func password() async throws {
        let gateway = try await GatewayInProcess.start("limits:\n  enabled: false\n", users: [.ada])
        defer { gateway.stop() }
        let (other, asking) = (try gateway.login(.ada), try gateway.login(.ada))
        func change(_ current: String) throws -> RawResponse {
            try gateway.request(
                "POST", "/api/auth/password", headers: [asking.bearer],
                json: ["current": current, "new": "a new password"])
        }
        expectRefused(try change("wrong"), 401, "invalid_credentials")
        expectStatus(try change(TestUser.ada.password), 204)
        expectRefused(try gateway.me(other.token), 401, "invalid_token")
        expectRefused(try gateway.refresh(other.refreshToken), 401, "invalid_grant")
        expectRefused(try gateway.session(other.sessionID, asking.bearer), 410, "session_ended")
        #expect(try gateway.isHealthy(asking.token))
        expectStatus(try gateway.current(asking.sessionSecret), 200)
        expectStatus(try gateway.refresh(asking.refreshToken), 200)
        expectRefused(try gateway.attemptLogin(.ada), 401, "invalid_credentials")
    }
}
