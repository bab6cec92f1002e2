import Testing

@testable import StateSurface

@Suite("How far the tokens of all nodes reach, on both databases")
struct ReachConformanceTests {
    private static let short = TokenReach(lifetime: 1_000, clockSkew: 30_000)
    private static let long = TokenReach(lifetime: 3_600_000, clockSkew: 0)

    @Test("The reach of all nodes covers each of them, until it ends", arguments: Backend.available)
    func joined(_ backend: Backend) async throws {
        try await backend.withPlace { place in
            let (here, there) = (try await place.open(), try await place.open())
            #expect(try await here.tokenReach(now: Sample.now) == nil)
            let recorder = ChangeRecorder(there)
            try await here.note(reach: Self.short, goodUntil: Sample.now + 1_000)
            #expect(try await there.tokenReach(now: Sample.now) == Self.short)
            #expect(try await recorder.hears { $0.contains(.tokenReach(Self.short)) })
            try await there.note(reach: Self.long, goodUntil: Sample.now + 5_000)
            #expect(try await here.tokenReach(now: Sample.now) == TokenReach(lifetime: 3_600_000, clockSkew: 30_000))
            #expect(try await here.tokenReach(now: Sample.now + 1_000) == Self.long)
            #expect(try await here.tokenReach(now: Sample.now + 5_000) == nil)
            // Said again, it is no news, and it is never shortened.
            recorder.forget()
            try await here.note(reach: Self.long, goodUntil: Sample.now + 2_000)
            try await here.note(reach: Self.short, goodUntil: Sample.now + 1_500)
            #expect(!recorder.changes.contains { if case .tokenReach = $0 { true } else { false } })
            #expect(try await here.tokenReach(now: Sample.now + 4_999) == Self.long)
            _ = try await here.expireSessions(now: Sample.now + 5_000, limit: 10)
            #expect(try await there.tokenReach(now: 0) == nil, "forgotten")
        }
    }

    @Test(
        "A revocation of a family or subject lasts as long as any node's tokens, whatever the node that revokes knows",
        arguments: Backend.available)
    func revocations(_ backend: Backend) async throws {
        try await backend.withPlace { place in
            let store = try await place.open()
            let other = try await place.open()
            let end = Sample.now + 9_000
            try await other.note(reach: Self.long, goodUntil: end)
            let recorder = ChangeRecorder(other)
            for (user, token) in [("usr_a", 100), ("usr_b", 200)] {
                try await store.insert(account: Sample.account(user, email: user))
                try await store.insert(family: Sample.family("fam_\(user)", user: user, token: token))
            }
            let client = ClientRecord(
                clientID: "cli_a", tenantID: "acme", name: "ci", secretHash: Sample.hash(1), scope: [],
                createdAt: Sample.now)
            try await store.insert(client: client)
            _ = try await store.endFamily(id: "fam_usr_a", at: Sample.now, revokedUntil: Sample.now + 1)
            #expect(try await store.disable(userID: "usr_b", at: Sample.now, revokedUntil: Sample.now + 1))
            #expect(try await store.disable(clientID: "cli_a", at: Sample.now, revokedUntil: Sample.now + 1))
            try await store.revoke(Revocation(kind: .family, id: "longer", expiresAt: end + 1))
            // When a single token ends is known.
            try await store.revoke(Revocation(kind: .token, id: "jti", expiresAt: Sample.now + 1))
            let kept = try await store.revocations(now: Sample.now)
            let ends = Dictionary(uniqueKeysWithValues: kept.map { ($0.id, $0.expiresAt) })
            #expect(
                ends == [
                    "fam_usr_a": end, "fam_usr_b": end, "usr_b": end, "cli_a": end, "longer": end + 1,
                    "jti": Sample.now + 1,
                ])
            // Other nodes are told the same.
            #expect(
                try await recorder.hears { changes in
                    changes.contains(.revoked(Revocation(kind: .family, id: "fam_usr_a", expiresAt: end)))
                })
        }
    }

    @Test(
        "Disabling revokes what names an older version of the account, and names each live family",
        arguments: Backend.available)
    func versions(_ backend: Backend) async throws {
        try await backend.withStore { store in
            try await store.insert(account: Sample.account())
            try await store.insert(family: Sample.family())
            _ = try await store.disable(userID: "usr_a", at: Sample.now, revokedUntil: Sample.now + 900)
            let account = try #require(try await store.account(userID: "usr_a"))
            let first = try await store.revocations(now: Sample.now)
            #expect(first.contains(Revocation(kind: .family, id: "fam", expiresAt: Sample.now + 900)))
            #expect(first.first { $0.kind == .subject }?.accountVersion == account.version)
            var enabled = account
            enabled.disabled = false
            #expect(try await store.replace(account: enabled))
            _ = try await store.disable(userID: "usr_a", at: Sample.now - 5, revokedUntil: Sample.now + 900)
            let second = try await store.revocations(now: Sample.now).first { $0.kind == .subject }
            #expect(second?.accountVersion == account.version + 2 && second?.issuedUntil == Sample.now)
            // One that names no version takes none back.
            try await store.revoke(Revocation(kind: .subject, id: "usr_a", issuedUntil: 1, expiresAt: 1))
            let third = try await store.revocations(now: Sample.now).first { $0.kind == .subject }
            #expect(third == second)
        }
    }
}
