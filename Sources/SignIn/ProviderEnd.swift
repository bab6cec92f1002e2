import IdentityProviders
import StateSurface

/// Something that a provider can end, and the places in the store where its newest end is remembered.
///
/// Two times of an end are kept, each by itself, since the end that was told last need not be the newest:
///
/// - when the provider issued it, for comparing with what ID tokens say. That is the provider's clock, in whole seconds.
/// - when it was told here, for comparing with when a sign-in began here. Both are times of the store's clock, which all
///   nodes share, and of the same millisecond the end counts as the later one.
///
/// A sign-in that began later proves by that alone that the provider has let the person in again: it was sent to the
/// provider after the end, and `state`, nonce and code are of no other one. What an ID token says does not matter then: many
/// providers keep the `sid` of a browser. A token that was handed in has begun nowhere here, so only its claims count.
struct ProviderEnd: Sendable {
    /// What can be ended. The names are those of the records in the store, those of when it was told with `_told` behind.
    enum Kind: String, Sendable {
        /// A session of the provider's.
        case session = "provider_session_ended"
        /// What a person has begun without a session of the provider's being named.
        case sessionless = "provider_sessionless_ended"
        /// Everything that a person has begun.
        case person = "provider_person_ended"

        /// The records that say when it was told.
        var told: String { rawValue + "_told" }
    }

    /// How long an end is remembered, in milliseconds: as long as an ID token from before the end is accepted, and some
    /// minutes, because clocks differ.
    private static let memory = ProviderToken.maximumAge + 300_000
    /// How long after an end it also counts for newer ID tokens, in milliseconds: for those that name the session that
    /// ended, or an authentication from before. With one of a later day the provider has let the person in again.
    private static let settling: Int64 = 86_400_000

    private let kind: Kind
    /// What the record is found by: the provider's name, with that of its session or `sub`.
    private let hash: [UInt8]

    private init(_ kind: Kind, _ named: String, of provider: String) {
        self.kind = kind
        // A provider's name has no space.
        hash = PendingLogin.hash(ofState: provider + " " + named)
    }

    /// What a logout token of this provider ends.
    static func ends(of target: LogoutToken.Target, ofProvider name: String) -> [ProviderEnd] {
        switch target {
        case .session(let session, nil): [ProviderEnd(.session, session, of: name)]
        case .session(let session, let person?):
            [ProviderEnd(.session, session, of: name), ProviderEnd(.sessionless, person, of: name)]
        case .subject(let person): [ProviderEnd(.person, person, of: name)]
        }
    }

    /// The ends that may be of what a sign-in begins with.
    static func ends(before origin: ProviderOrigin) -> [ProviderEnd] {
        var ends: [ProviderEnd] = []
        if let session = origin.session { ends.append(ProviderEnd(.session, session, of: origin.provider)) }
        // The other kinds are compared by time alone.
        guard origin.issuedAt != nil else { return ends }
        if origin.session == nil { ends.append(ProviderEnd(.sessionless, origin.subject, of: origin.provider)) }
        ends.append(ProviderEnd(.person, origin.subject, of: origin.provider))
        return ends
    }

    // MARK: Remembering

    /// The records of an end, to be raised in this order: who finds the end finds when it was told.
    ///
    /// - Parameters:
    ///   - issuedAt: the `iat` of the logout token, in milliseconds.
    ///   - toldAt: the store's time, after the token came.
    func records(issuedAt: Int64, toldAt: Int64, now: Int64) -> [SingleUseRecord] {
        [(kind.told, toldAt), (kind.rawValue, issuedAt)].map { kind, time in
            SingleUseRecord(
                kind: kind, hash: hash, owner: "", payload: Self.bytes(time), expiresAt: now + Self.memory)
        }
    }

    /// Whether it has ended so that the sign-in may not begin any more.
    func hasEnded(_ origin: ProviderOrigin, in store: any SingleUseStore, now: Int64) async throws -> Bool {
        guard let end = try await store.singleUse(kind: kind.rawValue, hash: hash, now: now),
            covers(origin, end, now: now)
        else { return false }
        guard let begunAt = origin.begunAt else { return true }
        let told = try await store.singleUse(kind: kind.told, hash: hash, now: now)
        return !Self.isLater(begunAt, than: told, of: end)
    }

    /// The same in a transaction. An end that it does not find can't be remembered before the transaction has ended.
    func hasEnded(_ origin: ProviderOrigin, in transaction: any StoreTransaction, now: Int64) throws -> Bool {
        guard let end = try transaction.singleUse(kind: kind.rawValue, hash: hash, now: now),
            covers(origin, end, now: now)
        else { return false }
        guard let begunAt = origin.begunAt else { return true }
        let told = try transaction.singleUse(kind: kind.told, hash: hash, now: now)
        return !Self.isLater(begunAt, than: told, of: end)
    }

    // MARK: Comparing

    /// Whether a sign-in began after an end was told. An end of which that is not known was told by an older version;
    /// so was one that is remembered for longer than the time at which one was told, which then is of an earlier end.
    private static func isLater(_ begunAt: Int64, than told: SingleUseRecord?, of end: SingleUseRecord) -> Bool {
        guard let told, told.expiresAt >= end.expiresAt else { return false }
        return !isNoLater(begunAt, than: told)
    }

    /// Whether an end counts for what an ID token says. Times are of the provider's clock, and of the same second the end
    /// counts as the later one.
    private func covers(_ origin: ProviderOrigin, _ record: SingleUseRecord, now: Int64) -> Bool {
        // Whether it was told within the last day.
        let isRecent = now < record.expiresAt - Self.memory + Self.settling
        switch kind {
        case .session:
            guard !isRecent, let issuedAt = origin.issuedAt else { return true }
            return Self.isNoLater(issuedAt, than: record)
        case .sessionless, .person:
            guard let issuedAt = origin.issuedAt else { return false }
            return Self.isNoLater(
                isRecent ? min(issuedAt, origin.authenticatedAt ?? issuedAt) : issuedAt, than: record)
        }
    }

    private static func isNoLater(_ time: Int64, than record: SingleUseRecord) -> Bool {
        !record.payload.lexicographicallyPrecedes(bytes(time))
    }

    /// Milliseconds so that later ones are greater, byte by byte.
    private static func bytes(_ time: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: max(0, time) >> (56 - 8 * Int64($0))) }
    }
}
