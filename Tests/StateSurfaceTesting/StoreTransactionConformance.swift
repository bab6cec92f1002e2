import Foundation
import StateSurface
import Testing

/// What transactions promise of single-use records and grants.
package enum StoreTransactionConformance {
    package typealias Store = any StateSurface

    package static let rules: [StoreRule<Store>] = [
        StoreRule("Single-use records are put and taken with the rest of a transaction, or not at all", together),
        StoreRule("Of many transactions at once that take a record, one gets it", takenOnce),
        StoreRule("A transaction finds what was raised before it, until that expires", raised),
        StoreRule(
            "Who raises a record and then looks finds what a transaction wrote that had not found the record",
            raisedMeanwhile),
        StoreRule("A grant is opened with the rest of a transaction, or not at all", grant),
        StoreRule("Of too many sessions guests go first, then homes, the longest unused first", surplusOrder),
        StoreRule("Of sessions that are opened at once, no more stay than a user may have", surplus),
        StoreRule("A protocol session begins and ends with the rest of a transaction, or not at all", protocolSession),
        StoreRule("Of transactions at once that find no protocol session, one binds it for all", boundOnce),
    ]

    /// An error of the caller's own.
    private struct Changed: TransactionAbort {}

    private static func record(_ seed: Int, kind: String = "end") -> SingleUseRecord {
        SingleUseRecord(
            kind: kind, hash: Sample.hash(seed), owner: "", payload: [0, UInt8(truncatingIfNeeded: seed)],
            expiresAt: Sample.now + 600_000)
    }

    @Sendable private static func together(_ store: Store) async throws {
        let (taken, made) = (record(1), record(2))
        try await store.put(singleUse: taken, limit: 10, now: Sample.now)
        func change(_ changesItsMind: Bool) async throws {
            try await store.transaction { transaction in
                let found = try transaction.take(singleUse: taken.kind, hash: taken.hash, now: Sample.now)
                #expect(found == taken)
                try transaction.put(singleUse: made, limit: 10, now: Sample.now)
                #expect(try transaction.singleUse(kind: made.kind, hash: made.hash, now: Sample.now) == made)
                if changesItsMind { throw Changed() }
            }
        }
        await #expect(throws: Changed.self) { try await change(true) }
        #expect(try await store.singleUse(kind: taken.kind, hash: taken.hash, now: Sample.now) == taken)
        #expect(try await store.singleUse(kind: made.kind, hash: made.hash, now: Sample.now) == nil)
        try await change(false)
        #expect(try await store.singleUse(kind: taken.kind, hash: taken.hash, now: Sample.now) == nil)
        #expect(try await store.singleUse(kind: made.kind, hash: made.hash, now: Sample.now) == made)
    }

    @Sendable private static func takenOnce(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        let taken = record(1)
        try await stores[0].put(singleUse: taken, limit: 10, now: Sample.now)
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<20 {
                group.addTask {
                    try await stores[index % 2].transaction { transaction in
                        let found = try transaction.take(singleUse: taken.kind, hash: taken.hash, now: Sample.now)
                        return found == nil ? 0 : 1
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(count == 1)
    }

    @Sendable private static func raised(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        let end = record(1)
        @Sendable func found(_ now: Milliseconds) async throws -> SingleUseRecord? {
            try await stores[1].transaction { try $0.singleUse(kind: end.kind, hash: end.hash, now: now) }
        }
        #expect(try await found(Sample.now) == nil)
        try await stores[0].raise(singleUse: end)
        #expect(try await found(Sample.now) == end)
        #expect(try await found(end.expiresAt) == nil)
    }

    /// The record is raised while the transaction is open, so a store without a common lock for the two misses both.
    @Sendable private static func raisedMeanwhile(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        let end = record(1)
        let (looked, look) = AsyncStream.makeStream(of: Void.self)
        let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let found = try await withThrowingTaskGroup(of: [String].self) { group in
            group.addTask {
                defer { look.finish() }
                try await stores[0].transaction { transaction in
                    let seen = try transaction.singleUse(kind: end.kind, hash: end.hash, now: Sample.now)
                    #expect(seen == nil)
                    look.yield()
                    // No store tells that somebody waits. But the other ends if nothing holds it up, and has time for it
                    // from when it begins, however slow the machine is.
                    _ = begun.wait(timeout: .now() + 30)
                    _ = ended.wait(timeout: .now() + 0.3)
                    try transaction.insert(family: Sample.family(), judged: JudgedOwner())
                }
                return []
            }
            group.addTask {
                for await _ in looked { break }
                begun.signal()
                try await stores[1].raise(singleUse: end)
                let families = try await stores[1].liveFamilies(userID: "usr_a").map(\.id)
                ended.signal()
                return families
            }
            return try await group.reduce(into: [String]()) { $0 += $1 }
        }
        #expect(found == ["fam"])
    }

    @Sendable private static func surplusOrder(_ store: Store) async throws {
        try await store.insert(family: Sample.family("fam", home: "ses_home"))
        let sessions = [("ses_home", 0), ("ses_old", 1), ("ses_older", 0), ("ses_new", 3), ("ses_mid", 2)]
        for (index, session) in sessions.enumerated() {
            let family = session.0 == "ses_mid" ? nil : "fam"
            var record = Sample.session(session.0, owner: "usr_a", family: family, secret: index + 1)
            record.lastSeenAt += Int64(session.1)
            try await store.insert(session: record)
        }
        try await store.insert(session: Sample.session("ses_b", owner: "usr_b", secret: 50))
        func surplus(_ limit: Int) async throws -> [SurplusSession] {
            try await store.transaction {
                try $0.surplusSessions(userID: "usr_a", sparing: "ses_new", limit: limit)
            }
        }
        #expect(try await surplus(5).isEmpty)
        #expect(try await surplus(4) == [SurplusSession(id: "ses_older", homeOf: nil)])
        #expect(
            try await surplus(1) == [
                SurplusSession(id: "ses_older", homeOf: nil), SurplusSession(id: "ses_old", homeOf: nil),
                SurplusSession(id: "ses_mid", homeOf: nil), SurplusSession(id: "ses_home", homeOf: "fam"),
            ])
    }

    @Sendable private static func surplus(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in 1...12 {
                group.addTask {
                    let session = Sample.session("ses_\(seed)", owner: "usr_a", secret: seed)
                    try await stores[seed % 2].transaction { transaction in
                        try transaction.takeTurnToOpenSession(of: "usr_a", limit: 3)
                        try transaction.insert(session: session)
                        let surplus = try transaction.surplusSessions(
                            userID: "usr_a", sparing: session.id, limit: 3)
                        for one in surplus {
                            var ended = try #require(try transaction.session(id: one.id))
                            ended.state = .ended
                            ended.endedAt = Sample.now
                            #expect(try transaction.replace(session: ended))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let live = try await stores[0].sessions(userID: "usr_a", liveAt: Sample.now, limit: 20)
        #expect(live.count == 3)
    }

    private static func protocolRecord(_ upstream: String, family: String? = nil) -> ProtocolSessionRecord {
        ProtocolSessionRecord(
            hash: Sample.hash(1), tenantID: "acme", userID: "usr_a", clientID: "cli_a", familyID: family,
            upstream: upstream, lastUsedAt: Sample.now)
    }

    @Sendable private static func protocolSession(_ store: Store) async throws {
        try await store.insert(family: Sample.family())
        let feed = ChangeRecorder(store)
        let bound = protocolRecord("ses_a", family: "fam")
        func begin(_ changesItsMind: Bool) async throws {
            try await store.transaction { transaction in
                let found = try transaction.protocolSession(hash: bound.hash)
                #expect(found == nil)
                try transaction.insert(session: Sample.session("ses_a", owner: "usr_a", family: "fam"))
                #expect(try transaction.bind(protocolSession: bound))
                #expect(try transaction.protocolSession(hash: bound.hash) == bound)
                if changesItsMind { throw Changed() }
            }
        }
        func end(_ changesItsMind: Bool) async throws {
            try await store.transaction { transaction in
                var session = try #require(try transaction.session(id: "ses_a"))
                session.state = .ended
                session.endedAt = Sample.now
                #expect(try transaction.replace(session: session))
                try transaction.end(protocolSession: bound)
                if changesItsMind { throw Changed() }
            }
        }
        func isBound() async throws -> Bool {
            try await store.protocolSession(hash: bound.hash, since: 0) != nil
        }
        await #expect(throws: Changed.self) { try await begin(true) }
        #expect(try await store.session(id: "ses_a") == nil)
        #expect(try await !isBound())
        try await begin(false)
        #expect(try await isBound())
        await #expect(throws: Changed.self) { try await end(true) }
        #expect(try await isBound())
        #expect(!feed.changes.contains(.protocolSessionEnded(hash: bound.hash)))
        try await end(false)
        #expect(try await !isBound())
        #expect(feed.changes.contains(.protocolSessionEnded(hash: bound.hash)))
        _ = try await store.endFamily(id: "fam", at: Sample.now, revokedUntil: Sample.now + 900)
        let isLate = try await store.transaction { transaction in try transaction.bind(protocolSession: bound) }
        #expect(!isLate)
    }

    /// A store without a common lock for what is not there yet gives some of them sessions that nothing leads to.
    @Sendable private static func boundOnce(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        let found = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<20 {
                group.addTask {
                    let own = protocolRecord("ses_\(index)")
                    return try await stores[index % 2].transaction { transaction -> String in
                        if let bound = try transaction.protocolSession(hash: own.hash) { return bound.upstream }
                        #expect(try transaction.bind(protocolSession: own))
                        return own.upstream
                    }
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        let bound = try #require(try await stores[0].protocolSession(hash: Sample.hash(1), since: 0))
        #expect(found == [bound.upstream])
    }

    @Sendable private static func grant(_ store: Store) async throws {
        let client = ClientRecord(
            clientID: "https://a.example/c", tenantID: "", name: "Agent", secretHash: [], scope: [],
            createdAt: Sample.now, isPublic: true, origin: "document")
        try await store.insert(account: Sample.account())
        try await store.insert(session: Sample.session("ses_a", owner: "usr_a"))
        func open(_ id: String, _ code: SingleUseRecord, epoch: Int64, _ consent: GrantConsent) async throws -> Bool {
            let family = FamilyRecord(
                id: id, tenantID: "acme", userID: "usr_a", clientID: client.clientID, scope: ["read"],
                binding: "ses_a", createdAt: Sample.now, absoluteExpiresAt: Sample.now + 60_000, currentHash: [],
                resource: "https://gate.example/mcp")
            return try await store.transaction { transaction in
                try transaction.keep(documentClient: client)
                try transaction.put(singleUse: code, limit: 10, now: Sample.now)
                return try transaction.open(
                    grant: family, judged: JudgedOwner(credentialEpoch: 0, clientID: client.clientID),
                    in: AuthorizingSession(id: "ses_a", epoch: epoch), consent: consent)
            }
        }
        func isThere(_ code: SingleUseRecord) async throws -> Bool {
            try await store.singleUse(kind: code.kind, hash: code.hash, now: Sample.now) != nil
        }
        await #expect(throws: StateSurfaceError.ownerGone) {
            _ = try await open("late", record(1), epoch: 1, .remembered(at: Sample.now))
        }
        #expect(try await store.family(id: "late") == nil)
        #expect(try await store.client(id: client.clientID) == nil)
        #expect(try await store.consents(userID: "usr_a").isEmpty)
        #expect(try await !isThere(record(1)))
        // A consent that is not there leaves the decision to the caller.
        #expect(try await !open("unasked", record(2), epoch: 0, .reliedOn))
        #expect(try await store.family(id: "unasked") == nil)
        #expect(try await isThere(record(2)))
        #expect(try await open("asked", record(3), epoch: 0, .remembered(at: Sample.now)))
        #expect(try await open("relying", record(4), epoch: 0, .reliedOn))
        #expect(try await Set(store.liveFamilies(userID: "usr_a").map(\.id)) == ["asked", "relying"])
        #expect(try await store.client(id: client.clientID) == client)
        #expect(try await isThere(record(4)))
    }
}
