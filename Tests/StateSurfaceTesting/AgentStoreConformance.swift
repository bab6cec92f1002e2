import StateSurface
import Testing

/// What the roles for agents promise: grants, personal access tokens, protocol sessions.
package enum AgentStoreConformance {
    package typealias Store = any StateSurface

    package static let rules: [StoreRule<Store>] = [
        StoreRule("A grant ends with its session, however that ends, and one that is kept does not", sessionEnds),
        StoreRule("No grant is opened in a session that is over, another's or of another epoch", refusedGrants),
        StoreRule("Ending a grant ends the families of user, client and resource, and forgets the consent", endGrant),
        StoreRule(
            "An authorisation and the end of its grant at the same moment come one after the other", endGrantRace),
        StoreRule("Of concurrent first uses of a code's family, one succeeds", firstUse),
        StoreRule("A new login in a session leaves the grants of that session alone", resumed),
        StoreRule("A registered client that is used is kept, an unused one is forgotten", clients),
        StoreRule("A personal access token is found by its hash, and ends with its family", personalTokens),
        StoreRule("So many personal access tokens are the most, however many are made at once", tokenLimit),
        StoreRule("A protocol session belongs to whom it was bound for, and ends with the family", protocolSessions),
    ]

    private static let resource = "https://gate.example/mcp"

    private static func grant(_ id: String, client: String = "cli_a", home: String? = "ses_a") -> FamilyRecord {
        FamilyRecord(
            id: id, tenantID: "acme", userID: "usr_a", clientID: client, scope: ["read"], binding: home,
            createdAt: Sample.now, absoluteExpiresAt: Sample.now + 60_000, currentHash: [], resource: resource)
    }

    private static func client(_ id: String = "cli_a", expiresAt: Milliseconds? = nil) -> ClientRecord {
        ClientRecord(
            clientID: id, tenantID: "", name: "Agent", secretHash: [], scope: [], createdAt: Sample.now,
            redirectURIs: ["https://a.example/cb", "http://127.0.0.1/cb"], isPublic: true, origin: "registration",
            expiresAt: expiresAt)
    }

    private static func prepare(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        try await store.insert(client: client())
        try await store.insert(session: Sample.session("ses_a", owner: "usr_a"))
    }

    @discardableResult private static func open(
        _ store: Store, _ family: FamilyRecord, in session: String = "ses_a", consent: GrantConsent = .asked
    ) async throws -> Bool {
        try await store.open(
            grant: family, judged: JudgedOwner(credentialEpoch: 0, clientID: family.clientID),
            in: AuthorizingSession(id: session, epoch: 0), consent: consent)
    }

    @Sendable private static func sessionEnds(_ store: Store) async throws {
        try await prepare(store)
        for (index, end) in ["replace", "family", "expiry"].enumerated() {
            let id = "ses_\(end)"
            var session = Sample.session(id, owner: "usr_a", secret: 10 + index)
            if end == "family" {
                try await store.insert(family: Sample.family("login", home: id))
                session.familyID = "login"
            }
            try await store.insert(session: session)
            try await open(store, grant("tied_\(end)", home: id), in: id)
            try await open(store, grant("kept_\(end)", home: nil), in: id)
            switch end {
            case "replace":
                session.state = .ended
                session.endedAt = Sample.now
                #expect(try await store.replace(session: session))
            case "family": _ = try await store.endFamily(id: "login", at: Sample.now, revokedUntil: Sample.now + 1)
            default:
                _ = try await store.expireSessions(now: session.absoluteExpiresAt + 1, limit: 100)
            }
            #expect(try await store.family(id: "tied_\(end)")?.isLive != true, "\(end)")
            #expect(try await store.revocations(now: Sample.now).contains { $0.id == "tied_\(end)" }, "\(end)")
            if end != "expiry" { #expect(try await store.family(id: "kept_\(end)")?.isLive == true, "\(end)") }
        }
    }

    @Sendable private static func refusedGrants(_ store: Store) async throws {
        try await prepare(store)
        try await store.insert(session: Sample.session("ses_b", owner: "usr_b", secret: 2))
        try await store.insert(session: Sample.session("ses_c", secret: 3))
        for session in ["ses_b", "ses_c", "ses_none"] {
            await #expect(throws: StateSurfaceError.ownerGone) { try await open(store, grant(session), in: session) }
            #expect(try await store.family(id: session) == nil)
        }
        await #expect(throws: StateSurfaceError.ownerGone) {
            _ = try await store.open(
                grant: grant("g"), judged: JudgedOwner(credentialEpoch: 0, clientID: "cli_a"),
                in: AuthorizingSession(id: "ses_a", epoch: 1), consent: .asked)
        }
        await #expect(throws: StateSurfaceError.ownerGone) { try await open(store, grant("g", client: "cli_x")) }
        try await open(store, grant("g"))
        #expect(try await store.family(id: "g") == grant("g"))
    }

    @Sendable private static func endGrant(_ store: Store) async throws {
        try await prepare(store)
        try await store.insert(client: client("cli_b"))
        #expect(try await !open(store, grant("early"), consent: .reliedOn))
        #expect(try await store.family(id: "early") == nil)
        for (id, client) in [("a1", "cli_a"), ("b1", "cli_b")] {
            #expect(try await open(store, grant(id, client: client), consent: .remembered(at: Sample.now)))
        }
        #expect(try await open(store, grant("a2"), consent: .reliedOn))
        var more = grant("more")
        more.scope = ["read", "write"]
        #expect(try await !open(store, more, consent: .reliedOn))
        let consent = ConsentRecord(
            userID: "usr_a", clientID: "cli_a", resource: resource, scope: ["read"], createdAt: Sample.now)
        #expect(try await store.consent(userID: "usr_a", clientID: "cli_a", resource: resource) == consent)
        let feed = ChangeRecorder(store)
        func end() async throws -> Bool {
            try await store.endGrant(
                userID: "usr_a", clientID: "cli_a", resource: resource, at: Sample.now, revokedUntil: Sample.now + 1)
        }
        #expect(try await end())
        #expect(feed.changes.contains(.familyEnded(id: "a1")) && feed.changes.contains(.familyEnded(id: "a2")))
        #expect(try await store.family(id: "b1")?.isLive == true)
        #expect(try await store.consent(userID: "usr_a", clientID: "cli_a", resource: resource) == nil)
        #expect(try await !end())
        #expect(try await !open(store, grant("late"), consent: .reliedOn))
        // A consent can be ended that has outlived its families.
        #expect(try await store.consents(userID: "usr_a").map(\.clientID) == ["cli_b"])
        #expect(try await open(store, grant("a3"), consent: .remembered(at: Sample.now + 1)))
        _ = try await store.endFamily(id: "a3", at: Sample.now, revokedUntil: Sample.now + 1)
        #expect(try await store.consents(userID: "usr_a").map(\.clientID) == ["cli_b", "cli_a"])
        #expect(try await store.consents(userID: "usr_b").isEmpty)
        #expect(try await end())
        #expect(try await store.consents(userID: "usr_a").map(\.clientID) == ["cli_b"])
        #expect(try await !end())
    }

    /// Whichever comes first: a consent that is still remembered has a live family, and a family that is live was
    /// opened with a consent that is still remembered.
    @Sendable private static func endGrantRace(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        try await prepare(stores[0])
        for round in 0..<24 {
            let family = grant("r\(round)")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await open(stores[0], family, consent: .remembered(at: Sample.now)) }
                group.addTask {
                    _ = try await stores[1].endGrant(
                        userID: "usr_a", clientID: "cli_a", resource: resource, at: Sample.now,
                        revokedUntil: Sample.now + 1)
                }
                try await group.waitForAll()
            }
            let isLive = try await stores[0].family(id: family.id)?.isLive == true
            let consent = try await stores[0].consent(userID: "usr_a", clientID: "cli_a", resource: resource)
            #expect(isLive == (consent != nil), "round \(round)")
        }
    }

    @Sendable private static func firstUse(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        try await prepare(stores[0])
        try await open(stores[0], grant("g"))
        let successes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<12 {
                group.addTask {
                    var next = grant("g")
                    next.currentHash = Sample.hash(500 + index)
                    next.counter = 1
                    return try await stores[index % 2].rotate(family: next)
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(successes == 1)
    }

    @Sendable private static func resumed(_ store: Store) async throws {
        try await prepare(store)
        try await store.insert(family: Sample.family("login"))
        try await open(store, grant("g"))
        let atHome = try await store.transaction { try $0.families(of: "usr_a", atHomeIn: "ses_a").map(\.id) }
        #expect(atHome == ["login"])
    }

    @Sendable private static func clients(_ store: Store) async throws {
        try await prepare(store)
        let end = Sample.now + 1_000
        try await store.insert(client: client("cli_used", expiresAt: end))
        try await store.insert(client: client("cli_unused", expiresAt: end))
        #expect(try await store.client(id: "cli_used") == client("cli_used", expiresAt: end))
        try await open(store, grant("g", client: "cli_used"))
        _ = try await store.expireSessions(now: end + 120_000, limit: 100)
        #expect(try await store.client(id: "cli_used")?.expiresAt == nil)
        #expect(try await store.client(id: "cli_used") != nil)
        #expect(try await store.client(id: "cli_unused") == nil)
        var document = client("https://app.example/c")
        document.origin = "document"
        try await store.keep(documentClient: document)
        #expect(try await store.disable(clientID: document.clientID, at: Sample.now, revokedUntil: Sample.now + 1))
        document.name = "New"
        try await store.keep(documentClient: document)
        let kept = try await store.client(id: document.clientID)
        #expect(kept?.name == "New" && kept?.disabled == true)
    }

    @Sendable private static func tokenLimit(_ place: StorePlace<Store>) async throws {
        let stores = [try await place.open(), try await place.open()]
        try await stores[0].insert(account: Sample.account())
        let made = try await withThrowingTaskGroup(of: Bool.self) { group in
            for seed in 1...30 {
                group.addTask {
                    let family = grant("pat_\(seed)", client: "pat", home: nil)
                    let token = PersonalTokenRecord(
                        hash: Sample.hash(seed), id: "ptk_\(seed)", userID: "usr_a", familyID: family.id, name: "n",
                        expiresAt: Sample.now + 60_000)
                    return try await stores[seed % 2].insert(
                        personalToken: token, family: family, judged: JudgedOwner(credentialEpoch: 0), limit: 4)
                }
            }
            return try await group.reduce(into: 0) { if $1 { $0 += 1 } }
        }
        #expect(made == 4)
    }

    @Sendable private static func personalTokens(_ store: Store) async throws {
        try await store.insert(account: Sample.account())
        func insert(_ seed: Int, limit: Int = 2) async throws -> Bool {
            var family = grant("pat_\(seed)", client: "pat", home: nil)
            family.createdAt = Sample.now + Int64(seed)
            let token = PersonalTokenRecord(
                hash: Sample.hash(seed), id: "ptk_\(seed)", userID: "usr_a", familyID: family.id, name: "n",
                expiresAt: Sample.now + 60_000)
            return try await store.insert(
                personalToken: token, family: family, judged: JudgedOwner(credentialEpoch: 0), limit: limit)
        }
        #expect(try await insert(1))
        #expect(try await insert(2))
        #expect(try await !insert(3))
        #expect(try await store.family(id: "pat_3") == nil)
        let found = try await store.personalToken(hash: Sample.hash(1))
        #expect(found?.token.id == "ptk_1" && found?.family.id == "pat_1" && found?.family.isLive == true)
        #expect(try await store.personalToken(hash: Sample.hash(9)) == nil)
        #expect(try await store.personalTokens(userID: "usr_a").map(\.token.id) == ["ptk_1", "ptk_2"])
        _ = try await store.endFamily(id: "pat_1", at: Sample.now, revokedUntil: Sample.now + 1)
        #expect(try await store.personalToken(hash: Sample.hash(1))?.family.isLive == false)
        #expect(try await store.personalTokens(userID: "usr_a").map(\.token.id) == ["ptk_2"])
        #expect(try await insert(4))
    }

    @Sendable private static func protocolSessions(_ store: Store) async throws {
        try await prepare(store)
        try await open(store, grant("g"))
        func record(
            _ seed: Int, user: String = "usr_a", family: String? = "g", upstream: String = "127.0.0.1:1"
        ) -> ProtocolSessionRecord {
            ProtocolSessionRecord(
                hash: Sample.hash(seed), tenantID: "acme", userID: user, clientID: "cli_a", familyID: family,
                upstream: upstream, lastUsedAt: Sample.now)
        }
        #expect(try await store.bind(protocolSession: record(1)))
        #expect(try await store.bind(protocolSession: record(1)))
        #expect(try await !store.bind(protocolSession: record(1, user: "usr_b")))
        #expect(try await store.protocolSession(hash: Sample.hash(1), since: Sample.now - 1) == record(1))
        #expect(try await store.protocolSession(hash: Sample.hash(1), since: Sample.now) == nil)
        try await store.touch(protocolSession: Sample.hash(1), at: Sample.now + 5)
        #expect(try await store.protocolSession(hash: Sample.hash(1), since: Sample.now)?.lastUsedAt == Sample.now + 5)
        #expect(try await store.bind(protocolSession: record(2)))
        #expect(try await store.bind(protocolSession: record(3, family: nil)))
        let feed = ChangeRecorder(store)
        // Another's, and one that was bound anew for another upstream, stay.
        for stale in [record(2, user: "usr_b"), record(2, upstream: "127.0.0.1:2")] {
            try await store.end(protocolSession: stale)
            #expect(try await store.protocolSession(hash: Sample.hash(2), since: 0) == record(2))
        }
        #expect(!feed.changes.contains(.protocolSessionEnded(hash: Sample.hash(2))))
        try await store.end(protocolSession: record(2))
        #expect(feed.changes.contains(.protocolSessionEnded(hash: Sample.hash(2))))
        #expect(try await store.protocolSession(hash: Sample.hash(2), since: 0) == nil)
        #expect(try await store.bind(protocolSession: record(2)))
        try await store.end(protocolSession: record(2, upstream: ""))
        #expect(try await store.protocolSession(hash: Sample.hash(2), since: 0) == nil)
        _ = try await store.endFamily(id: "g", at: Sample.now, revokedUntil: Sample.now + 1)
        #expect(try await store.protocolSession(hash: Sample.hash(1), since: 0) == nil)
        #expect(try await store.protocolSession(hash: Sample.hash(3), since: 0) != nil)
        #expect(try await !store.bind(protocolSession: record(4)))
    }
}
