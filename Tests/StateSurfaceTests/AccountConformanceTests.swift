import Testing

@testable import StateSurface

@Suite("Accounts, identities and clients, on both databases")
struct AccountConformanceTests {
    @Test("An e-mail is taken once per tenant", arguments: Backend.available)
    func duplicates(_ backend: Backend) async throws {
        try await backend.withStore { store in
            let account = Sample.account()
            try await store.insert(account: account)
            try await store.insert(account: Sample.account("usr_b", tenant: "other"))
            await #expect(throws: StateSurfaceError(.duplicate, "")) {
                try await store.insert(account: Sample.account("usr_c"))
            }
            #expect(try await store.account(userID: "usr_a") == account)
            #expect(try await store.accounts(emailKey: account.emailKey).map(\.userID) == ["usr_a", "usr_b"])
            #expect(try await store.accounts(emailKey: "nobody").isEmpty)
            #expect(try await store.accounts(limit: 10).count == 2)
        }
    }

    @Test("Accounts without an e-mail neither clash nor are found by it", arguments: Backend.available)
    func withoutEmail(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.insert(account: Sample.account("usr_a", email: ""))
            try await store.insert(account: Sample.account("usr_b", email: ""))
            #expect(try await store.accounts(emailKey: "").isEmpty)
        }
    }

    @Test("An error never quotes a row", arguments: Backend.available)
    func silentErrors(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.insert(account: Sample.account(email: "secret@example.com"))
            do {
                try await store.insert(account: Sample.account("usr_b", email: "secret@example.com"))
                Issue.record("a duplicate was accepted")
            } catch {
                #expect(!"\(error)".contains("secret"))
                #expect(!String(reflecting: error).contains("secret"))
            }
        }
    }

    @Test("A replacement from an older reading is refused", arguments: Backend.available)
    func compareAndSet(_ backend: Backend) async throws {
        try await backend.withStore { store in
            var account = Sample.account()
            try await store.insert(account: account)
            account.passwordHash = nil
            account.scope = []
            #expect(try await store.replace(account: account))
            #expect(try await store.replace(account: account) == false)
            let stored = try #require(try await store.account(userID: "usr_a"))
            #expect(stored.version == 1 && stored.passwordHash == nil && stored.scope.isEmpty)
        }
    }

    @Test("Disabling ends everything of the user and nothing of others", arguments: Backend.available)
    func disable(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.insert(account: Sample.account())
            try await store.insert(family: Sample.family("fam"))
            try await store.insert(family: Sample.family("others", user: "usr_b", token: 200))
            try await store.insert(session: Sample.session("ses_1", owner: "usr_a", family: "fam", secret: 1))
            try await store.insert(session: Sample.session("ses_2", owner: "usr_a", secret: 2))
            try await store.insert(session: Sample.session("ses_3", owner: "usr_b", secret: 3))
            let recorder = ChangeRecorder(store)
            #expect(try await store.disable(userID: "usr_x", at: Sample.now, revokedUntil: Sample.now + 1) == false)
            #expect(recorder.changes.isEmpty)
            #expect(try await store.disable(userID: "usr_a", at: Sample.now, revokedUntil: Sample.now + 900))
            let revocation = Revocation(
                kind: .subject, id: "usr_a", issuedUntil: Sample.now, accountVersion: 1, expiresAt: Sample.now + 900)
            #expect(recorder.changes.contains(.revoked(revocation)))
            #expect(recorder.changes.contains(.familyEnded(id: "fam")))
            #expect(recorder.changes.contains(.account(userID: "usr_a")))
            #expect(recorder.changes.contains(.session(id: "ses_2", state: .ended, epoch: 0)))
            #expect(try await store.account(userID: "usr_a")?.disabled == true)
            #expect(try await store.family(id: "fam")?.isLive == false)
            #expect(try await store.family(id: "others")?.isLive == true)
            #expect(try await store.session(id: "ses_1")?.state == .ended)
            #expect(try await store.session(id: "ses_3")?.state == .authenticated)
            // What was under way meanwhile comes too late.
            await #expect(throws: StateSurfaceError.ownerGone) {
                try await store.insert(session: Sample.session("ses_4", owner: "usr_a", secret: 4))
            }
            #expect(try await store.session(id: "ses_4") == nil)
            for epoch in 0...1 {
                await #expect(throws: StateSurfaceError.ownerGone) {
                    try await store.insert(
                        family: Sample.family("late", token: 300), judged: JudgedOwner(credentialEpoch: Int64(epoch)))
                }
            }
        }
    }

    @Test("An external identity is made once, however many ask at once", arguments: Backend.available)
    func identity(_ backend: Backend) async throws {
        try await backend.withStore { store in
            let users = try await withThrowingTaskGroup(of: String.self) { group in
                for index in 0..<40 {
                    group.addTask {
                        try await store.identity(issuer: "https://idp", subject: "42", tenantID: "acme") {
                            Sample.account("usr_\(index)", email: "")
                        }.userID
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(users.count == 1)
            #expect(try await store.accounts(limit: 100).count == 1)
            let other = try await store.identity(issuer: "https://idp", subject: "43", tenantID: "acme") {
                Sample.account("usr_other", email: "")
            }
            #expect(other.userID == "usr_other")
        }
    }

    @Test("Clients are kept", arguments: Backend.available)
    func clients(_ backend: Backend) async throws {
        try await backend.withStore { store in
            let client = ClientRecord(
                clientID: "cli_a", tenantID: "acme", name: "ci", secretHash: Sample.hash(1), scope: ["a", "b"],
                createdAt: Sample.now)
            try await store.insert(client: client)
            #expect(try await store.client(id: "cli_a") == client)
            #expect(try await store.client(id: "cli_b") == nil)
            #expect(try await store.clients(limit: 5) == [client])
            await #expect(throws: StateSurfaceError(.duplicate, "")) { try await store.insert(client: client) }
            #expect(try await !store.disable(clientID: "cli_b", at: Sample.now, revokedUntil: Sample.now + 900))
            #expect(try await store.disable(clientID: "cli_a", at: Sample.now, revokedUntil: Sample.now + 900))
            #expect(try await store.client(id: "cli_a")?.disabled == true)
            let revoked = try await store.revocations(now: Sample.now)
            #expect(revoked.map(\.id) == ["cli_a"] && revoked.first?.issuedUntil == .max)
        }
    }
}
