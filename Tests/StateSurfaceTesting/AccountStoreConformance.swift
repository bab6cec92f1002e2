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
        #expect(try await store.accounts(limit: 10).count == 2)
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
        #expect(try await store.accounts(limit: 100).count == 1)
        let other = try await store.identity(issuer: "https://idp", subject: "43", tenantID: "acme") {
            Sample.account("usr_other", email: "")
        }
        #expect(other.userID == "usr_other")
    }
}
