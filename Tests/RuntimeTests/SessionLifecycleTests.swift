import StateSurface
import Testing

@testable import Runtime

@Suite struct SessionLifecycleTests {
    static let policy = SessionPolicy(anonymousIdle: 1_000, anonymousLifetime: 5_000, idle: 2_000, lifetime: 50_000)
    let lifecycle = SessionLifecycle(policy: policy)

    static let current = [UInt8](repeating: 1, count: 32)
    static let previous = [UInt8](repeating: 2, count: 32)
    static let next = [UInt8](repeating: 3, count: 32)
    static let owner = SessionOwner(tenantID: "t", userID: "usr_a")
    static let now: Milliseconds = 100_000

    static func record(_ state: StoredSessionState, owned: Bool = true) -> SessionRecord {
        let owned = owned && state != .anonymous
        return SessionRecord(
            id: "ses_x", state: state, tenantID: owned ? "t" : nil, userID: owned ? "usr_a" : nil, createdAt: now - 500,
            lastSeenAt: now - 500, idleTimeout: 1_000, absoluteExpiresAt: now + 4_500, secretHash: current,
            previousSecretHash: state == .authenticated ? previous : nil,
            previousSecretUntil: state == .authenticated ? now + 5_000 : nil, epoch: state == .anonymous ? 0 : 1,
            familyID: owned ? "fam" : nil, version: 7)
    }

    static func claim(
        _ presented: [UInt8] = current, owner: SessionOwner = owner, epoch: Int64? = nil
    ) -> SessionClaim {
        SessionClaim(owner: owner, presentedHash: presented, newHash: next, familyID: "new", expectedEpoch: epoch)
    }

    /// What a decision comes to, in one word.
    enum Outcome: Sendable, Equatable {
        case answers
        case writes(StoredSessionState)
        case expires(SessionFault.Code)
        case refuses(SessionFault.Code)

        init(_ action: SessionAction) {
            switch action {
            case .answer: self = .answers
            case .write(let record): self = .writes(record.state)
            case .expire(_, let fault): self = .expires(fault.code)
            case .refuse(let fault): self = .refuses(fault.code)
            }
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let record: SessionRecord?
        let event: SessionEvent
        let outcome: Outcome
        var at = now
        let line: Int

        init(
            _ record: SessionRecord?, _ event: SessionEvent, _ outcome: Outcome, at: Milliseconds = now,
            line: Int = #line
        ) {
            self.record = record
            self.event = event
            self.outcome = outcome
            self.at = at
            self.line = line
        }

        var testDescription: String { "line \(line)" }
    }

    static let stranger = SessionOwner(tenantID: "t", userID: "usr_b")
    static let sameUserElsewhere = SessionOwner(tenantID: "u", userID: "usr_a")
    static let mine = SessionProof.owner(tenantID: "t", userID: "usr_a")
    static let theirs = SessionProof.owner(tenantID: "t", userID: "usr_b")
    static let secret = SessionProof.secret(hash: current)
    static let oldSecret = SessionProof.secret(hash: previous)
    static let later = now + 500

    static let rows: [Row] = [
        // Reading.
        Row(nil, .read(secret), .refuses(.mismatch)),
        Row(record(.anonymous), .read(secret), .answers),
        Row(record(.anonymous), .read(mine), .refuses(.mismatch)),
        Row(record(.anonymous), .read(.owner(tenantID: "", userID: "")), .refuses(.mismatch)),
        Row(record(.anonymous), .read(.secret(hash: [])), .refuses(.mismatch)),
        Row(record(.authenticated), .read(secret), .answers),
        Row(record(.authenticated), .read(mine), .answers),
        Row(record(.authenticated), .read(oldSecret), .refuses(.mismatch)),
        Row(record(.authenticated), .read(theirs), .refuses(.mismatch)),
        Row(record(.authenticated), .read(.owner(tenantID: "u", userID: "usr_a")), .refuses(.mismatch)),
        Row(record(.authenticated), .read(secret), .answers, at: later - 1),
        Row(record(.authenticated), .read(secret), .expires(.expired), at: later),
        Row(record(.authenticated), .read(mine), .expires(.expired), at: later),
        Row(record(.authenticated), .read(theirs), .refuses(.mismatch), at: later),
        Row(record(.ended), .read(secret), .refuses(.ended)),
        Row(record(.ended), .read(mine), .refuses(.ended)),
        Row(record(.ended), .read(theirs), .refuses(.mismatch)),
        Row(record(.expired), .read(secret), .refuses(.expired)),
        Row(record(.expired), .read(mine), .refuses(.expired)),
        Row(record(.expired), .read(oldSecret), .refuses(.mismatch)),
        // Upgrading.
        Row(nil, .upgrade(claim()), .refuses(.mismatch)),
        Row(record(.anonymous), .upgrade(claim()), .writes(.authenticated)),
        Row(record(.anonymous), .upgrade(claim(previous)), .refuses(.mismatch)),
        Row(record(.anonymous), .upgrade(claim([])), .refuses(.mismatch)),
        Row(record(.anonymous), .upgrade(claim()), .expires(.mismatch), at: later),
        Row(record(.anonymous), .upgrade(claim(epoch: 0)), .writes(.authenticated)),
        Row(record(.authenticated), .upgrade(claim()), .writes(.authenticated)),
        Row(record(.authenticated), .upgrade(claim(previous)), .writes(.authenticated)),
        Row(record(.authenticated), .upgrade(claim(next)), .refuses(.mismatch)),
        Row(record(.authenticated), .upgrade(claim(owner: stranger)), .refuses(.conflict)),
        Row(record(.authenticated), .upgrade(claim(previous, owner: stranger)), .refuses(.conflict)),
        Row(record(.authenticated), .upgrade(claim(owner: sameUserElsewhere)), .refuses(.conflict)),
        Row(record(.authenticated), .upgrade(claim(next, owner: stranger)), .refuses(.mismatch)),
        Row(record(.authenticated), .upgrade(claim(epoch: 0)), .refuses(.conflict)),
        Row(record(.authenticated), .upgrade(claim(previous, epoch: 0)), .refuses(.conflict)),
        Row(record(.ended), .upgrade(claim()), .refuses(.mismatch)),
        Row(record(.expired), .upgrade(claim()), .refuses(.mismatch)),
        // Logging in again.
        Row(nil, .resume(claim()), .refuses(.mismatch)),
        Row(record(.anonymous), .resume(claim()), .refuses(.conflict)),
        Row(record(.authenticated), .resume(claim()), .writes(.authenticated)),
        Row(record(.authenticated), .resume(claim(previous)), .writes(.authenticated)),
        Row(record(.authenticated), .resume(claim(next)), .refuses(.mismatch)),
        Row(record(.authenticated), .resume(claim(owner: stranger)), .refuses(.conflict)),
        Row(record(.authenticated), .resume(claim()), .expires(.mismatch), at: later),
        Row(record(.ended), .resume(claim()), .refuses(.mismatch)),
        // Ending.
        Row(nil, .end(nil), .refuses(.mismatch)),
        Row(record(.anonymous), .end(secret), .writes(.ended)),
        Row(record(.anonymous), .end(mine), .refuses(.mismatch)),
        Row(record(.authenticated), .end(nil), .writes(.ended)),
        Row(record(.authenticated), .end(mine), .writes(.ended)),
        Row(record(.authenticated), .end(oldSecret), .refuses(.mismatch)),
        Row(record(.authenticated), .end(mine), .writes(.expired), at: later),
        Row(record(.ended), .end(mine), .answers),
        Row(record(.expired), .end(nil), .answers),
        // Time going by.
        Row(record(.anonymous), .expiryCheck, .answers, at: later - 1),
        Row(record(.anonymous), .expiryCheck, .writes(.expired), at: later),
        Row(record(.ended), .expiryCheck, .answers, at: later),
    ]

    @Test("Every event in every state has one answer", arguments: rows)
    func table(row: Row) {
        #expect(Outcome(lifecycle.decide(row.record, row.event, now: row.at)) == row.outcome)
    }

    @Test("An upgrade sets the owner, raises the epoch, changes the secret and keeps the id")
    func upgrade() throws {
        let before = Self.record(.anonymous)
        let after = try #require(written(before, .upgrade(Self.claim())))
        #expect(after.id == before.id)
        #expect(after.tenantID == "t" && after.userID == "usr_a" && after.familyID == "new")
        #expect(after.epoch == before.epoch + 1)
        #expect(after.secretHash == Self.next)
        #expect(after.previousSecretHash == Self.current)
        #expect(after.previousSecretUntil == Self.now + 10_000)
        #expect(after.version == before.version)
        #expect(after.createdAt == before.createdAt)
        #expect(after.expiresAt == Self.now + Self.policy.idle)
        #expect(after.absoluteExpiresAt == Self.now + Self.policy.lifetime)
    }

    @Test("A repeat changes the secret and nothing of the privilege; repeating does not stretch its own grace")
    func repeated() throws {
        let before = Self.record(.authenticated)
        let after = try #require(written(before, .upgrade(Self.claim(Self.previous))))
        #expect(after.secretHash == Self.next)
        #expect(after.previousSecretHash == Self.previous && after.previousSecretUntil == Self.now + 5_000)
        #expect(after.epoch == before.epoch && after.familyID == "fam")
        #expect(after.absoluteExpiresAt == before.absoluteExpiresAt)
        let byCurrent = try #require(written(before, .upgrade(Self.claim())))
        #expect(byCurrent.previousSecretHash == Self.current)
        #expect(byCurrent.previousSecretUntil == Self.now + 10_000)
    }

    @Test(
        "Grace is over after its time, and a clock that is set back brings it back by no more than clocks may differ",
        arguments: [0, 20, 30_000] as [Milliseconds])
    func grace(skew: Milliseconds) {
        var policy = Self.policy
        policy.clockSkew = skew
        let lifecycle = SessionLifecycle(policy: policy)
        var record = Self.record(.authenticated)
        record.idleTimeout = 1_000_000
        record.absoluteExpiresAt = Self.now + 1_000_000
        record.previousSecretUntil = Self.now + 10_000
        func outcome(at time: Milliseconds) -> Outcome {
            Outcome(lifecycle.decide(record, .upgrade(Self.claim(Self.previous)), now: time))
        }
        #expect(outcome(at: Self.now + 9_999) == .writes(.authenticated))
        #expect(outcome(at: Self.now + 10_000) == .refuses(.mismatch))
        // The secret was changed at a node whose clock is ahead.
        #expect(outcome(at: Self.now - skew) == .writes(.authenticated))
        #expect(outcome(at: Self.now - skew - 1) == .refuses(.mismatch))
        #expect(outcome(at: .min) == .refuses(.mismatch))
    }

    @Test("Logging in again changes family, secret and epoch, and the owner stays")
    func resume() throws {
        let before = Self.record(.authenticated)
        let after = try #require(written(before, .resume(Self.claim())))
        #expect(after.familyID == "new" && after.epoch == before.epoch + 1 && after.secretHash == Self.next)
        #expect(after.userID == before.userID && after.metadata == before.metadata)
    }

    @Test("What ends has no second secret any more")
    func endForgetsPrevious() throws {
        for time in [Self.now, Self.later] {
            let after = try #require(written(Self.record(.authenticated), .end(nil), at: time))
            #expect(after.previousSecretHash == nil && after.previousSecretUntil == nil)
            #expect(after.secretHash == Self.current)
        }
    }

    @Test("Extreme times and lifetimes don't trap", arguments: [Milliseconds.min, -1, 0, .max])
    func extremes(time: Milliseconds) {
        let lifecycle = SessionLifecycle(
            policy: SessionPolicy(anonymousIdle: .max, anonymousLifetime: .max, idle: .max, lifetime: .max))
        let events: [SessionEvent] = [
            .upgrade(Self.claim()), .resume(Self.claim(Self.previous)), .read(Self.secret), .end(nil), .expiryCheck,
        ]
        for state in [StoredSessionState.anonymous, .authenticated, .ended, .expired] {
            for event in events { _ = lifecycle.decide(Self.record(state), event, now: time) }
        }
    }

    private func written(
        _ record: SessionRecord, _ event: SessionEvent, at time: Milliseconds = now
    ) -> SessionRecord? {
        guard case .write(let next) = lifecycle.decide(record, event, now: time) else { return nil }
        return next
    }
}
