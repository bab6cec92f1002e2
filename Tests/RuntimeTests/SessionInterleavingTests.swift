import RandomForTests
import StateSurface
import Testing

@testable import Runtime

/// Many hands on one session, in every order that a seeded dice can think of. Loading and writing are separate steps,
/// so that every decision may rest on something that is no longer true when it is written.
@Suite struct SessionInterleavingTests {
    @Test("In any order, the history is linear", arguments: 0..<40)
    func schedules(block: Int) {
        for seed in 0..<200 {
            var world = World(seed: UInt64(block * 200 + seed))
            world.run()
            #expect(world.violations == [], "seed \(block * 200 + seed)")
        }
    }

    @Test("The checker notices a store that does not compare versions")
    func checkerCanFail() {
        let violations = (0..<400).flatMap { seed in
            var world = World(seed: UInt64(seed))
            world.comparesVersions = false
            world.run()
            return world.violations
        }
        #expect(!violations.isEmpty)
    }

    @Test("Upgrades, ends and expiries really happen in these schedules")
    func schedulesAreRich() {
        var states: [StoredSessionState: Int] = [:]
        var conflicts = 0
        for seed in 0..<400 {
            var world = World(seed: UInt64(seed))
            world.run()
            states[world.stored.state, default: 0] += 1
            conflicts += world.conflicts
        }
        for state in [StoredSessionState.authenticated, .ended, .expired] { #expect((states[state] ?? 0) > 20) }
        #expect(conflicts > 100)
    }
}

/// One session, some actors, and what must always hold.
private struct World {
    private struct Actor {
        let event: SessionEvent
        var loaded: SessionRecord?
        var attempts = 0
    }

    private static let users = ["usr_a", "usr_b", "usr_c"]
    private let lifecycle = SessionLifecycle(
        policy: SessionPolicy(
            anonymousIdle: 3_000, anonymousLifetime: 20_000, idle: 6_000, lifetime: 30_000, clockSkew: 0))
    private var dice: SeededGenerator
    private var now: Milliseconds = 1_000_000
    private var secretCount: UInt8 = 1
    private var actors: [Actor] = []
    /// Secrets that were handed out, and in which epoch.
    private var issued: [[UInt8]: Int64] = [:]
    var stored: SessionRecord
    var comparesVersions = true
    var violations: [String] = []
    var conflicts = 0

    init(seed: UInt64) {
        self.dice = SeededGenerator(seed: seed)
        let secret = [UInt8](repeating: 0, count: 32)
        self.stored = SessionRecord(
            id: "ses_x", state: .anonymous, createdAt: 1_000_000, lastSeenAt: 1_000_000, idleTimeout: 3_000,
            absoluteExpiresAt: 1_020_000, secretHash: secret)
        self.issued[secret] = 0
    }

    mutating func run() {
        for _ in 0..<40 {
            switch Int.random(in: 0..<10, using: &dice) {
            case 0: moveClock()
            case 1...3: actors.append(Actor(event: randomEvent()))
            default: step()
            }
        }
        while !actors.isEmpty { step() }
        checkEnd()
    }

    private mutating func moveClock() {
        let steps: [Milliseconds] = [1, 400, 1_500, 2_500, 11_000, -2_000, -30_000]
        now += steps.randomElement(using: &dice) ?? 0
    }

    private mutating func randomEvent() -> SessionEvent {
        let user = Self.users.randomElement(using: &dice) ?? "usr_a"
        // Sorted, because the order of a dictionary is not the dice's doing.
        let known = issued.keys.sorted { $0.lexicographicallyPrecedes($1) }
        // Mostly the newest one: guesses alone would seldom get anywhere.
        let recent = Bool.random(using: &dice) ? stored.secretHash : known.randomElement(using: &dice)
        let secret = recent ?? []
        let claim = SessionClaim(
            owner: SessionOwner(tenantID: "t", userID: user), presentedHash: secret, newHash: newSecret(),
            familyID: "family of \(user)")
        switch Int.random(in: 0..<10, using: &dice) {
        case 0...3: return .upgrade(claim)
        case 4, 5: return .resume(claim)
        case 6: return .read(.secret(hash: secret))
        case 7: return .read(.owner(tenantID: "t", userID: user))
        case 8: return .end(.secret(hash: secret))
        default: return .expiryCheck
        }
    }

    private mutating func newSecret() -> [UInt8] {
        defer { secretCount &+= 1 }
        return [UInt8](repeating: secretCount, count: 32)
    }

    /// One actor takes one step: loads, or decides and writes.
    private mutating func step() {
        guard let index = actors.indices.randomElement(using: &dice) else { return }
        guard let loaded = actors[index].loaded else {
            actors[index].loaded = stored
            return
        }
        let event = actors[index].event
        let action = lifecycle.decide(loaded, event, now: now)
        switch action {
        case .write(let next), .expire(let next, _):
            guard replace(with: next, event) else {
                conflicts += 1
                actors[index].loaded = nil
                actors[index].attempts += 1
                return
            }
        case .answer, .refuse: checkAnswer(action, of: event, on: loaded)
        }
        actors.remove(at: index)
    }

    private mutating func replace(with next: SessionRecord, _ event: SessionEvent) -> Bool {
        guard !comparesVersions || stored.version == next.version else { return false }
        let before = stored
        stored = next
        stored.version += 1
        checkWrite(before, stored, event)
        return true
    }

    // MARK: What must hold

    private mutating func require(_ condition: Bool, _ rule: String) {
        if !condition { violations.append(rule) }
    }

    private mutating func checkWrite(_ before: SessionRecord, _ after: SessionRecord, _ event: SessionEvent) {
        let order: [StoredSessionState: Int] = [.anonymous: 0, .authenticated: 1, .ended: 2, .expired: 2]
        require((order[after.state] ?? 0) >= (order[before.state] ?? 0), "moved backwards")
        require(before.state.isLive, "a dead session was written")
        require(before.userID == nil || before.userID == after.userID, "the owner changed")
        require(after.epoch >= before.epoch, "the epoch fell")
        require(after.id == before.id, "the id changed")
        switch event {
        case .upgrade(let claim), .resume(let claim):
            guard after.state.isLive else { return }
            require(claim.owner.owns(after), "another owner's claim was carried out")
            require(after.secretHash == claim.newHash, "the claim's secret is not the secret")
            checkPresented(claim, before)
            issued[claim.newHash] = after.epoch
        case .read, .expiryCheck:
            require(after.state == .expired, "reading wrote something else than expiry")
        case .end:
            require(!after.state.isLive, "ending left it alive")
        }
    }

    /// A secret of a dead epoch counts for nothing, but for the one before the current, for its owner, for 10 seconds.
    private mutating func checkPresented(_ claim: SessionClaim, _ before: SessionRecord) {
        if claim.presentedHash == before.secretHash { return }
        let isGrace = before.previousSecretHash == claim.presentedHash && claim.owner.owns(before)
        let until = before.previousSecretUntil ?? .min
        require(isGrace && now < until && until - now <= 10_000, "an old secret was accepted")
    }

    private mutating func checkAnswer(_ action: SessionAction, of event: SessionEvent, on loaded: SessionRecord) {
        guard case .read(let proof) = event, case .answer(let record) = action else { return }
        require(record.state.isLive && now < record.expiresAt, "a dead session was shown as live")
        if case .secret(let hash) = proof {
            require(hash == loaded.secretHash, "shown to an old secret")
        }
    }

    private mutating func checkEnd() {
        guard !stored.state.isLive else { return }
        // No operation on an ended session, at any time, revives it or admits a caller.
        for time in [now, 0, 1_000_000, now + 100_000] {
            for hash in issued.keys {
                let claim = SessionClaim(
                    owner: SessionOwner(tenantID: "t", userID: stored.userID ?? "usr_a"), presentedHash: hash,
                    newHash: [], familyID: nil)
                for event in [SessionEvent.upgrade(claim), .resume(claim), .read(.secret(hash: hash)), .expiryCheck] {
                    switch lifecycle.decide(stored, event, now: time) {
                    case .write, .expire: require(false, "a dead session would be written")
                    case .answer(let record): require(!record.state.isLive, "a dead session came back")
                    case .refuse: break
                    }
                }
            }
        }
    }
}
