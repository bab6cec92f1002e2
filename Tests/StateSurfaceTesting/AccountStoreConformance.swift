import StateSurface
import Testing

/// What every ``AccountStore`` promises.
package enum AccountStoreConformance {
    package typealias Store = any AccountStore

    package static let rules: [StoreRule<Store>] = [
        StoreRule("An e-mail is taken once per tenant", duplicates),
        StoreRule("Accounts without an e-mail neither clash nor are found by it", withoutEmail),
        StoreRule("An error never quotes a row", silentErrors),
        StoreRule("A replacement from an older reading is refused", compareAndSet),
        StoreRule("An external identity is made once, however many ask at once", identity),
        StoreRule("An identity becomes the one account of its tenant with the same verified e-mail, once", linked),
        StoreRule("An e-mail that is not verified, foreign, or of several accounts links nothing", notLinked),
        StoreRule("Several accounts are found by their ids, each once", byIDs),
        StoreRule("Name and groups of an account are stored and replaced", profile),
        StoreRule("Whether any account has a scope is asked by whole words", scopes),
    ]

    @Sendable private static func duplicates(_ store: Store) async throws {
        let account = Sample.account()
        try await store.insert(account: account)
        try await store.insert(account: Sample.account("usr_b", tenant: "other"))
        await #expect(throws: StateSurfaceError(.duplicate, "")) {
            try await store.insert(account: Sample.account("usr_c"))
        }
        #expect(try await store.account(userID: "usr_a") == account)
        #expect(try await store.accounts(emailKey: account.emailKey).map(\.userID) == ["usr_a", "usr_b"])
        #expect(try await store.accounts(emailKey: "nobody").isEmpty)
        #expect(try await store.accounts(tenantID: nil, limit: 10).count == 2)
        // Filtered before the limit.
        for (tenant, user) in [("other", "usr_b"), (account.tenantID, "usr_a")] {
            #expect(try await store.accounts(tenantID: tenant, limit: 1).map(\.userID) == [user])
        }
    }

    @Sendable private static func byIDs(_ store: Store) async throws {
        let ids = (0..<70).map { "usr_\($0)" }
        for id in ids { try await store.insert(account: Sample.account(id, email: "")) }
        // Numbers below, at and above those that a statement takes.
        for count in [0, 1, 4, 5, 17, 64, 65, 70] {
            let found = try await store.accounts(userIDs: Array(ids.prefix(count)))
            #expect(found.map(\.userID).sorted() == ids.prefix(count).sorted())
        }
        let found = try await store.accounts(userIDs: ["usr_nobody", "usr_3", "usr_3", "usr_", ""])
        #expect(found == [Sample.account("usr_3", email: "")])
    }

    @Sendable private static func withoutEmail(_ store: Store) async throws {
        try await store.insert(account: Sample.account("usr_a", email: ""))
        try await store.insert(account: Sample.account("usr_b", email: ""))
        #expect(try await store.accounts(emailKey: "").isEmpty)
    }

    @Sendable private static func silentErrors(_ store: Store) async throws {
        try await store.insert(account: Sample.account(email: "secret@example.com"))
        do {
            try await store.insert(account: Sample.account("usr_b", email: "secret@example.com"))
            Issue.record("a duplicate was accepted")
        } catch {
            #expect(!"\(error)".contains("secret"))
            #expect(!String(reflecting: error).contains("secret"))
        }
    }

    @Sendable private static func compareAndSet(_ store: Store) async throws {
        var account = Sample.account()
        try await store.insert(account: account)
        account.passwordHash = nil
        account.scope = []
        #expect(try await store.replace(account: account))
        #expect(try await store.replace(account: account) == false)
        let stored = try #require(try await store.account(userID: "usr_a"))
        #expect(stored.version == 1 && stored.passwordHash == nil && stored.scope.isEmpty)
    }

    @Sendable private static func identity(_ store: Store) async throws {
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
        #expect(try await store.accounts(tenantID: nil, limit: 100).count == 1)
        let other = try await store.identity(issuer: "https://idp", subject: "43", tenantID: "acme") {
            Sample.account("usr_other", email: "")
        }
        #expect(other.userID == "usr_other")
        #expect(try await store.userIDs(issuer: "https://idp", subject: "43") == ["usr_other"])
        #expect(try await store.userIDs(issuer: "https://idp", subject: "44").isEmpty)
        #expect(try await store.userIDs(issuer: "https://other", subject: "43").isEmpty)
    }

    private static func link(
        _ store: Store, subject: String, tenant: String = "acme", email: String? = "ada@example.com"
    ) async throws -> AccountRecord {
        try await store.identity(issuer: "https://idp", subject: subject, tenantID: tenant, linking: email) {
            var account = Sample.account("usr_new_\(subject)", tenant: tenant, email: "")
            account.emailKey = "external:usr_new_\(subject)"
            return account
        }
    }

    @Sendable private static func linked(_ store: Store) async throws {
        var ada = Sample.account("usr_ada", email: "Ada@Example.com")
        ada.emailKey = "ada@example.com"
        ada.emailVerified = true
        try await store.insert(account: ada)
        let found = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await link(store, subject: "1").userID } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(found == ["usr_ada"])
        // Who it is does not depend on the e-mail from then on.
        #expect(try await link(store, subject: "1", email: "other@example.com").userID == "usr_ada")
        #expect(try await link(store, subject: "1", email: nil).userID == "usr_ada")
        #expect(try await store.userIDs(issuer: "https://idp", subject: "1") == ["usr_ada"])
        // An identity that was there before stays where it is.
        #expect(try await link(store, subject: "2", email: nil).userID == "usr_new_2")
        #expect(try await link(store, subject: "2").userID == "usr_new_2")
    }

    @Sendable private static func notLinked(_ store: Store) async throws {
        var claimed = Sample.account("usr_claimed", email: "ada@example.com")
        claimed.emailVerified = false
        try await store.insert(account: claimed)
        #expect(try await link(store, subject: "1").userID == "usr_new_1")
        var foreign = Sample.account("usr_foreign", tenant: "other", email: "bob@example.com")
        foreign.emailVerified = true
        try await store.insert(account: foreign)
        #expect(try await link(store, subject: "2", email: "bob@example.com").userID == "usr_new_2")
        for id in ["usr_x", "usr_y"] {
            var double = Sample.account(id, email: "carol@example.com")
            double.emailKey = "external:" + id
            double.emailVerified = true
            try await store.insert(account: double)
        }
        #expect(try await link(store, subject: "3", email: "carol@example.com").userID == "usr_new_3")
        #expect(try await link(store, subject: "4", email: "").userID == "usr_new_4")
    }

    @Sendable private static func profile(_ store: Store) async throws {
        var account = Sample.account()
        account.name = "Ada Lovelace"
        account.groups = ["staff", "Größe 1", "e\u{301},x"]
        try await store.insert(account: account)
        #expect(try await store.account(userID: "usr_a") == account)
        account.name = nil
        account.groups = []
        account.credentialEpoch = 7
        #expect(try await store.replace(account: account))
        let stored = try #require(try await store.account(userID: "usr_a"))
        #expect(stored.name == nil && stored.groups.isEmpty && stored.credentialEpoch == 0)
    }

    @Sendable private static func scopes(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        for (scope, has) in [("read", true), ("write", true), ("rea", false), ("ead", false), ("admin", false)] {
            #expect(try await store.accountsHave(scope: scope) == has, "\(scope)")
        }
    }
}
