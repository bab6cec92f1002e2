import StateSurface
import Testing

/// What every ``PasskeyStore`` promises.
package enum PasskeyStoreConformance {
    package typealias Store = any PasskeyStore & AccountStore

    package static let rules: [StoreRule<Store>] = [
        StoreRule("A passkey is found by its id and its user, with everything that it was stored with", found),
        StoreRule("A credential id is stored once, for one account", unique),
        StoreRule("An account has at most so many passkeys, however many register at once", bounded),
        StoreRule("An account that is disabled or unknown gets none", ownerGone),
        StoreRule("Of many uses of one counter, one is stored", used),
        StoreRule("A user removes passkeys of their own and no other's", removed),
    ]

    private static func passkey(
        _ seed: Int, user: String = "usr_a", createdAt: Milliseconds = Sample.now
    ) -> PasskeyRecord {
        PasskeyRecord(
            credentialID: Sample.hash(seed), userID: user, name: "key \(seed)", publicKey: Sample.hash(seed + 500),
            algorithm: -7, signCount: 5, isBackupEligible: true, isBackedUp: false,
            aaguid: Array(Sample.hash(9).prefix(16)), transports: ["internal", "usb"], createdAt: createdAt)
    }

    private static func use(_ seed: Int, user: String = "usr_a", judged: Int64 = 5, next: Int64 = 6) -> PasskeyUse {
        PasskeyUse(
            credentialID: Sample.hash(seed), userID: user, judgedSignCount: judged, signCount: next,
            isBackedUp: true, at: Sample.now + 7)
    }

    @Sendable private static func found(_ place: StorePlace<Store>) async throws {
        let (one, other) = (try await place.open(), try await place.open())
        try await one.insert(account: Sample.account())
        #expect(try await one.insert(passkey: passkey(2, createdAt: Sample.now + 1), limit: 20))
        #expect(try await one.insert(passkey: passkey(1), limit: 20))
        #expect(try await other.passkey(credentialID: Sample.hash(1)) == passkey(1))
        #expect(try await other.passkey(credentialID: Sample.hash(3)) == nil)
        #expect(
            try await other.passkeys(userID: "usr_a") == [passkey(1), passkey(2, createdAt: Sample.now + 1)])
        #expect(try await other.passkeys(userID: "usr_b").isEmpty)
        // The longest id that WebAuthn allows.
        var long = passkey(4)
        long.credentialID = (0..<1023).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try await one.insert(passkey: long, limit: 20))
        #expect(try await other.passkey(credentialID: long.credentialID) == long)
    }

    @Sendable private static func unique(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        try await store.insert(account: Sample.account("usr_b", email: "bob@example.com"))
        #expect(try await store.insert(passkey: passkey(1), limit: 20))
        for user in ["usr_a", "usr_b"] {
            await #expect(throws: StateSurfaceError(.duplicate, "")) {
                _ = try await store.insert(passkey: passkey(1, user: user), limit: 20)
            }
        }
        #expect(try await store.passkey(credentialID: Sample.hash(1))?.userID == "usr_a")
    }

    @Sendable private static func bounded(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        try await stores[0].insert(account: Sample.account())
        let stored = try await withThrowingTaskGroup(of: Bool.self) { group in
            for seed in 0..<12 {
                group.addTask { try await stores[seed % 2].insert(passkey: passkey(seed), limit: 5) }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(stored == 5)
        #expect(try await stores[1].passkeys(userID: "usr_a").count == 5)
    }

    @Sendable private static func ownerGone(_ store: Store) async throws {
        await #expect(throws: StateSurfaceError.ownerGone) {
            _ = try await store.insert(passkey: passkey(1), limit: 20)
        }
        try await store.insert(account: Sample.account())
        _ = try await store.disable(userID: "usr_a", at: Sample.now, revokedUntil: Sample.now)
        await #expect(throws: StateSurfaceError.ownerGone) {
            _ = try await store.insert(passkey: passkey(1), limit: 20)
        }
        #expect(try await store.passkey(credentialID: Sample.hash(1)) == nil)
    }

    @Sendable private static func used(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        try await stores[0].insert(account: Sample.account())
        _ = try await stores[0].insert(passkey: passkey(1), limit: 20)
        let stored = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<10 { group.addTask { try await stores[index % 2].use(passkey: use(1)) } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(stored == 1)
        let after = try await stores[0].passkey(credentialID: Sample.hash(1))
        #expect(after?.signCount == 6 && after?.isBackedUp == true && after?.lastUsedAt == Sample.now + 7)
        #expect(try await stores[0].use(passkey: use(1, user: "usr_b", judged: 6, next: 7)) == false)
        #expect(try await stores[0].use(passkey: use(2)) == false)
        // A counter that stays 0 is that of an authenticator without one: each of its uses counts.
        var still = passkey(3)
        still.signCount = 0
        _ = try await stores[0].insert(passkey: still, limit: 20)
        for _ in 0..<2 { #expect(try await stores[1].use(passkey: use(3, judged: 0, next: 0))) }
    }

    @Sendable private static func removed(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        _ = try await store.insert(passkey: passkey(1), limit: 20)
        #expect(try await store.removePasskey(credentialID: Sample.hash(1), userID: "usr_b") == false)
        #expect(try await store.passkey(credentialID: Sample.hash(1)) != nil)
        #expect(try await store.removePasskey(credentialID: Sample.hash(1), userID: "usr_a"))
        #expect(try await store.passkey(credentialID: Sample.hash(1)) == nil)
        #expect(try await store.removePasskey(credentialID: Sample.hash(1), userID: "usr_a") == false)
    }
}

extension PasskeyStore {
    /// A passkey for which only the account is judged.
    fileprivate func insert(passkey record: PasskeyRecord, limit: Int) async throws -> Bool {
        try await insert(passkey: record, judged: JudgedOwner(), limit: limit)
    }
}
