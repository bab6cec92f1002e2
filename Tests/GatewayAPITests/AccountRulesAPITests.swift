import BasicsForTests
import EdgeConfiguration
import Encodings
import SecurityGuard
import StateSurface
import Testing

/// Whose account an e-mail means, where strangers may register, and how many sessions a user may have.
@Suite struct AccountRulesAPITests {
    private func register(_ fixture: APIFixture, _ email: String, tenant: String? = nil) async throws -> Answer {
        let named = tenant.map { #","tenant_id":"\#($0)""# } ?? ""
        return try await fixture.send(
            "POST", "/api/auth/register", Ask(#"{"email":"\#(email)","password":"stranger's"\#(named)}"#))
    }

    private func login(
        _ fixture: APIFixture, _ email: String, _ password: String, _ more: String = ""
    ) async throws -> Answer {
        try await fixture.send(
            "POST", "/api/auth/login", Ask(#"{"email":"\#(email)","password":"\#(password)"\#(more)}"#))
    }

    @Test("Who registers gets a tenant of their own, and can't choose one that is not open")
    func registrationTenants() async throws {
        let fixture = try await APIFixture { $0.accounts.registration = true }
        let one = try await register(fixture, "one@example.com")
        let two = try await register(fixture, "two@example.com")
        #expect(one.status == 200 && two.status == 200)
        #expect(one.text("tenant_id")?.hasPrefix("ten_") == true && one.text("tenant_id") != two.text("tenant_id"))
        for tenant in ["acme", "default", one.text("tenant_id") ?? ""] {
            let refused = try await register(fixture, "three@example.com", tenant: tenant)
            #expect(refused.status == 400 && refused.code == "invalid_request", "\(tenant)")
        }
        #expect(try await fixture.state.accounts(emailKey: "three@example.com").isEmpty)
    }

    @Test("An e-mail that is registered in a tenant of its own can't be registered again")
    func secondRegistration() async throws {
        let fixture = try await APIFixture {
            $0.accounts.registration = true
            $0.accounts.registrationTenants = ["people", "guests"]
        }
        let ada = try await register(fixture, "ada@example.com")
        for tenant in [nil, "people"] {
            let second = try await register(fixture, " ADA@example.com", tenant: tenant)
            #expect(second.status == 409, "\(tenant ?? "-")")
        }
        let login = try await login(fixture, "ada@example.com", "stranger's")
        #expect(login.status == 200 && login.text("user_id") == ada.text("user_id"))
        // Who registers in open tenants names them.
        for tenant in ["people", "guests"] {
            #expect(try await register(fixture, "bob@example.com", tenant: tenant).status == 200)
        }
        #expect(try await self.login(fixture, "bob@example.com", "stranger's").status == 401)
        let named = try await self.login(fixture, "bob@example.com", "stranger's", #","tenant_id":"guests""#)
        #expect(named.status == 200)
    }

    @Test("Tenants that are open to registration may be named; the only one need not be")
    func openTenants() async throws {
        let single = try await APIFixture {
            $0.accounts.registration = true
            $0.accounts.registrationTenants = ["people"]
        }
        #expect(try await register(single, "a@example.com").text("tenant_id") == "people")
        #expect(try await register(single, "b@example.com", tenant: "people").text("tenant_id") == "people")
        #expect(try await register(single, "c@example.com", tenant: "acme").status == 400)
        let several = try await APIFixture {
            $0.accounts.registration = true
            $0.accounts.registrationTenants = ["people", "guests"]
        }
        #expect(try await register(several, "a@example.com", tenant: "guests").text("tenant_id") == "guests")
        #expect(try await register(several, "b@example.com").text("tenant_id")?.hasPrefix("ten_") == true)
    }

    @Test("A registration with another user's e-mail does not take away that user's login")
    func namesake() async throws {
        let fixture = try await APIFixture { $0.accounts.registration = true }
        let owner = try await fixture.account("ada@example.com")
        let stranger = try await register(fixture, "ada@example.com")
        #expect(stranger.status == 200)
        let answer = try await fixture.login("ada@example.com")
        #expect(answer.status == 200 && answer.text("user_id") == owner.userID)
        // The stranger's own login names the tenant.
        #expect(try await login(fixture, "ada@example.com", "stranger's").status == 401)
        let named = #","tenant_id":"\#(stranger.text("tenant_id") ?? "")""#
        #expect(try await login(fixture, "ada@example.com", "stranger's", named).status == 200)
    }

    @Test(
        "Two verified accounts of one e-mail are told apart by the default tenant, or not at all",
        arguments: [nil, "beta"])
    func defaultTenant(_ tenant: String?) async throws {
        let fixture = try await APIFixture { $0.accounts.defaultTenant = tenant }
        _ = try await fixture.account("ada@example.com", tenant: "acme")
        let beta = try await fixture.account("ada@example.com", tenant: "beta")
        let answer = try await fixture.login("ada@example.com")
        #expect(answer.status == (tenant == nil ? 401 : 200))
        if tenant != nil { #expect(answer.text("user_id") == beta.userID) }
        let named = try await login(fixture, "ada@example.com", APIFixture.password, #","tenant_id":"acme""#)
        #expect(named.text("tenant_id") == "acme")
    }

    @Test("Without passwords there is no password login, no change of one and no registration")
    func withoutPasswords() async throws {
        let fixture = try await APIFixture {
            $0.accounts.registration = true
            $0.accounts.passwords = false
        }
        _ = try await fixture.account()
        #expect(try await fixture.login().status == 404)
        #expect(try await fixture.send("POST", "/api/auth/password").status == 404)
        #expect(try await fixture.send("POST", "/api/auth/register").status == 404)
        #expect(try await fixture.send("POST", "/api/auth/refresh").status == 401)
        #expect(try await fixture.anonymous().status == 200)
    }

    @Test("Blanks around an e-mail, however many, give no more tries")
    func blanks() async throws {
        let fixture = try await APIFixture { $0.limits.loginPerMinute = 2 }
        _ = try await fixture.account()
        var answers: [Int] = []
        for blanks in ["", " ", String(repeating: " ", count: 330), String(repeating: " ", count: 500)] {
            answers.append(try await login(fixture, blanks + "ADA@example.com" + blanks, "wrong").status)
        }
        #expect(answers == [401, 401, 429, 429])
    }

    @Test("Beyond sessions.per_user the longest unused guest goes, then a home with its family")
    func perUser() async throws {
        let fixture = try await APIFixture { $0.sessions.perUser = 3 }
        _ = try await fixture.account()
        let home = try await fixture.login()
        var guests: [Answer] = []
        for _ in 0..<2 {
            fixture.clock.advance(by: 1_000)
            guests.append(try await fixture.send("POST", "/api/session/create", Ask(token: home.token)))
        }
        func live(_ answers: Answer...) async throws -> [Bool] {
            var found: [Bool] = []
            for answer in answers {
                found.append(try await fixture.state.session(id: answer.sessionID)?.state.isLive == true)
            }
            return found
        }
        #expect(try await live(home, guests[0], guests[1]) == [true, true, true])
        fixture.clock.advance(by: 1_000)
        let second = try await fixture.login()
        #expect(try await live(guests[0], guests[1], home, second) == [false, true, true, true])
        fixture.clock.advance(by: 1_000)
        let anonymous = try await fixture.anonymous()
        let third = try await fixture.send(
            "PATCH", "/api/session/\(anonymous.sessionID)/upgrade", Ask(token: second.token, secret: anonymous.secret))
        #expect(third.status == 200)
        #expect(try await live(guests[1], home, second, third) == [false, true, true, true])
        // The next two take the place of the guest and of the oldest home.
        for _ in 0..<2 {
            fixture.clock.advance(by: 1_000)
            _ = try await fixture.login()
        }
        #expect(try await live(third, home, second) == [false, false, true])
        #expect(try await fixture.send("GET", "/api/auth/me", Ask(token: home.token)).status == 401)
    }

    @Test("A token that nothing refreshes ends with its client, and so does the session opened with it")
    func clientSession() async throws {
        let fixture = try await APIFixture()
        let client = try await fixture.client()
        let granted = try await fixture.send(
            "POST", "/oauth2/token", Ask("grant_type=client_credentials", basic: "\(client.id):\(client.secret)"))
        let session = try await fixture.send("POST", "/api/session/create", Ask(token: granted.token))
        #expect(session.status == 200)
        #expect(
            try await fixture.state.disable(clientID: client.id, at: fixture.clock.read() - 60_000, revokedUntil: .max))
        #expect(try await fixture.send("GET", "/api/session/current", Ask(secret: session.secret)).status == 410)
        #expect(try await fixture.send("GET", "/api/auth/me", Ask(token: granted.token)).status == 401)
    }
}
