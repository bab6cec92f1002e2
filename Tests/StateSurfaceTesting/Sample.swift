import StateSurface

/// Records to begin with.
package enum Sample {
    package static let now: Milliseconds = 1_800_000_000_000

    package static func hash(_ seed: Int) -> [UInt8] {
        (0..<32).map { UInt8(truncatingIfNeeded: seed &* 31 &+ $0 &* 7 &+ (seed >> 8)) }
    }

    package static func session(
        _ id: String = "ses_a", owner: String? = nil, family: String? = nil, createdAt: Milliseconds = now,
        secret: Int = 1
    ) -> SessionRecord {
        SessionRecord(
            id: id, state: owner == nil ? .anonymous : .authenticated, tenantID: owner == nil ? nil : "acme",
            userID: owner, createdAt: createdAt, lastSeenAt: createdAt, idleTimeout: 60_000,
            absoluteExpiresAt: createdAt + 600_000, secretHash: hash(secret), familyID: family)
    }

    package static func account(
        _ userID: String = "usr_a", tenant: String = "acme", email: String = "ada@example.com"
    ) -> AccountRecord {
        AccountRecord(
            userID: userID, tenantID: tenant, email: email, emailKey: email, passwordHash: "$scrypt$…",
            scope: ["read", "write"], createdAt: now)
    }

    package static func family(
        _ id: String = "fam", user: String = "usr_a", home: String = "ses_a", token: Int = 100
    ) -> FamilyRecord {
        FamilyRecord(
            id: id, tenantID: "acme", userID: user, clientID: "gatehouse", scope: [], binding: home,
            createdAt: now, absoluteExpiresAt: now + 1_000_000, currentHash: hash(token))
    }

    /// The family after one more rotation.
    package static func rotated(_ family: FamilyRecord, token: Int) -> FamilyRecord {
        var next = family
        next.previousHash = family.currentHash
        next.currentHash = hash(token)
        next.successorSalt = hash(token + 1_000)
        next.rotatedAt = now + 5
        next.counter += 1
        return next
    }

    package static func execution(
        _ intentID: String = "c1", session: String = "ses_a", node: String = "n1"
    ) -> ExecutionRecord {
        ExecutionRecord(
            sessionID: session, intentID: intentID, intent: "echo", nodeID: node, epoch: 1,
            createdAt: now)
    }
}

extension FamilyStore {
    /// A family of which nothing has to be judged.
    package func insert(family: FamilyRecord) async throws { try await insert(family: family, judged: JudgedOwner()) }
}
