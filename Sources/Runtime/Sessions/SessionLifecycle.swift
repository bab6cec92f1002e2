import Libcrypto
import StateSurface

/// An event on an existing session.
enum SessionEvent: Sendable {
    /// Its owner is set, or that is repeated.
    case upgrade(SessionClaim)
    /// Its owner has logged in again.
    case resume(SessionClaim)
    /// It is read.
    case read(SessionProof)
    /// It is to end; without a proof, by the gateway itself.
    case end(SessionProof?)
    /// It is checked for expiry.
    case expiryCheck
}

/// The claim of an authenticated user to a session.
struct SessionClaim: Sendable {
    let owner: SessionOwner
    /// SHA-256 of the secret that was presented.
    let presentedHash: [UInt8]
    /// SHA-256 of the new secret.
    let newHash: [UInt8]
    let familyID: String?
    /// The epoch that the session must have; nil for any.
    var expectedEpoch: Int64?
    var metadata = "{}"
}

/// The decision on an event.
enum SessionAction: Sendable, Equatable {
    /// Answer with the session as it is.
    case answer(SessionRecord)
    /// Write this over the version it was made from, then answer with it.
    case write(SessionRecord)
    /// Record that the session has expired, then refuse.
    case expire(SessionRecord, SessionFault)
    case refuse(SessionFault)
}

/// The lifecycle of a session as pure decisions: `anonymous` → `authenticated` → `ended` | `expired`. A state is never
/// changed back, and the owner is set once.
struct SessionLifecycle: Sendable {
    let policy: SessionPolicy

    /// Decides on one event for a loaded session at the time `now`.
    ///
    /// It has no effects, so ``SessionKeeper`` repeats it when another writer was faster. An unknown session is refused
    /// like one that the proof does not open.
    func decide(_ record: SessionRecord?, _ event: SessionEvent, now: Milliseconds) -> SessionAction {
        guard let record else { return .refuse(.mismatch) }
        switch event {
        case .upgrade(let claim): return upgrade(record, claim, now: now)
        case .resume(let claim): return resume(record, claim, now: now)
        case .read(let proof): return read(record, proof, now: now)
        case .end(let proof): return end(record, proof, now: now)
        case .expiryCheck:
            return record.state.isLive && Self.isPast(record, now) ? .write(Self.expired(record)) : .answer(record)
        }
    }

    // MARK: Reading and ending

    private func read(_ record: SessionRecord, _ proof: SessionProof, now: Milliseconds) -> SessionAction {
        guard proof.opens(record) else { return .refuse(.mismatch) }
        switch record.state {
        case .ended: return .refuse(.ended)
        case .expired: return .refuse(.expired)
        case .anonymous, .authenticated:
            return Self.isPast(record, now) ? .expire(Self.expired(record), .expired) : .answer(record)
        }
    }

    private func end(_ record: SessionRecord, _ proof: SessionProof?, now: Milliseconds) -> SessionAction {
        if let proof, !proof.opens(record) { return .refuse(.mismatch) }
        guard record.state.isLive else { return .answer(record) }
        guard !Self.isPast(record, now) else { return .write(Self.expired(record)) }
        var ended = record
        ended.state = .ended
        ended.endedAt = now
        ended.previousSecretHash = nil
        ended.previousSecretUntil = nil
        return .write(ended)
    }

    // MARK: Claims

    private func upgrade(_ record: SessionRecord, _ claim: SessionClaim, now: Milliseconds) -> SessionAction {
        let presented = Presented(
            claim.presentedHash, for: record, within: policy.repeatWindow + policy.clockSkew, now: now)
        if let refusal = refusal(of: claim, presented, on: record, now: now) { return refusal }
        var next = record
        do {
            next.metadata = try SessionMetadata.merge(
                claim.metadata, into: record.metadata, limit: policy.metadataLimit)
        } catch {
            return .refuse(error)
        }
        if record.state == .anonymous {
            next.tenantID = claim.owner.tenantID
            next.userID = claim.owner.userID
            next.familyID = claim.familyID
            raise(&next, now: now)
        }
        rotate(&next, to: claim.newHash, presented, now: now)
        return .write(next)
    }

    private func resume(_ record: SessionRecord, _ claim: SessionClaim, now: Milliseconds) -> SessionAction {
        let presented = Presented(
            claim.presentedHash, for: record, within: policy.repeatWindow + policy.clockSkew, now: now)
        if let refusal = refusal(of: claim, presented, on: record, now: now) { return refusal }
        guard record.state == .authenticated else { return .refuse(.conflict) }
        var next = record
        next.familyID = claim.familyID
        raise(&next, now: now)
        rotate(&next, to: claim.newHash, presented, now: now)
        return .write(next)
    }

    /// Why a claim is refused, or nil. Only with a valid secret is the reason other than "mismatch".
    private func refusal(
        of claim: SessionClaim, _ presented: Presented, on record: SessionRecord, now: Milliseconds
    ) -> SessionAction? {
        guard record.state.isLive else { return .refuse(.mismatch) }
        guard presented != .neither else { return .refuse(.mismatch) }
        guard !Self.isPast(record, now) else { return .expire(Self.expired(record), .mismatch) }
        if record.state == .authenticated, !claim.owner.owns(record) { return .refuse(.conflict) }
        if let expected = claim.expectedEpoch, expected != record.epoch { return .refuse(.conflict) }
        return nil
    }

    /// Whether this is the previous secret, within the grace for repeating the change that replaced it.
    func repeats(_ record: SessionRecord, secretHash: [UInt8], now: Milliseconds) -> Bool {
        let presented = Presented(
            secretHash, for: record, within: policy.repeatWindow + policy.clockSkew, now: now)
        return presented == .previous && !Self.isPast(record, now)
    }

    /// Increases the epoch, so that everything issued before the change of privilege has an older one.
    private func raise(_ record: inout SessionRecord, now: Milliseconds) {
        record.state = .authenticated
        record.epoch += 1
        record.idleTimeout = policy.idle
        record.absoluteExpiresAt = Self.saturating(max(record.createdAt, now), plus: policy.lifetime)
        record.lastSeenAt = max(record.lastSeenAt, now)
    }

    /// Replaces the secret. The presented one may repeat this within the grace, which a repetition does not extend.
    private func rotate(
        _ record: inout SessionRecord, to hash: [UInt8], _ presented: Presented, now: Milliseconds
    ) {
        if presented == .current {
            record.previousSecretHash = record.secretHash
            record.previousSecretUntil = Self.saturating(now, plus: policy.repeatWindow)
        }
        record.secretHash = hash
        record.lastSeenAt = max(record.lastSeenAt, now)
    }

    // MARK: Time

    /// The end of a span; `Int64.max` instead of an overflow, which means never.
    static func saturating(_ time: Milliseconds, plus span: Milliseconds) -> Milliseconds {
        let (sum, overflow) = time.addingReportingOverflow(span)
        return overflow ? .max : sum
    }

    /// Whether a session has expired, by idle time or absolutely: the moment of expiry itself is past.
    static func isPast(_ record: SessionRecord, _ now: Milliseconds) -> Bool {
        now >= record.expiresAt
    }

    private static func expired(_ record: SessionRecord) -> SessionRecord {
        var expired = record
        expired.state = .expired
        expired.endedAt = record.expiresAt
        expired.previousSecretHash = nil
        expired.previousSecretUntil = nil
        return expired
    }
}

/// Which of a session's secrets was presented.
private enum Presented: Sendable, Equatable {
    case current
    /// The previous one, within its grace.
    case previous
    case neither

    init(_ hash: [UInt8], for record: SessionRecord, within window: Milliseconds, now: Milliseconds) {
        if ConstantTime.equal(record.secretHash, hash) {
            self = .current
        } else if record.state == .authenticated, let previous = record.previousSecretHash,
            let until = record.previousSecretUntil, now < until,
            // A clock that was set back must not extend the grace by more than the clock tolerance.
            SessionLifecycle.saturating(now, plus: window) >= until,
            ConstantTime.equal(previous, hash)
        {
            self = .previous
        } else {
            self = .neither
        }
    }
}
