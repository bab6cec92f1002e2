import IdentityProviders
import StateSurface

/// Something that a provider can end, and the place in the store where its newest end is remembered.
struct ProviderEnd: Sendable {
    /// What can be ended. The names are those of the records in the store.
    enum Kind: String, Sendable {
        /// A session of the provider's.
        case session = "provider_session_ended"
        /// What a person has begun without a session of the provider's being named.
        case sessionless = "provider_sessionless_ended"
        /// Everything that a person has begun.
        case person = "provider_person_ended"
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

    /// The record of an end.
    /// - Parameter issuedAt: the `iat` of the logout token, in milliseconds.
    func record(issuedAt: Int64, now: Int64) -> SingleUseRecord {
        SingleUseRecord(
            kind: kind.rawValue, hash: hash, owner: "", payload: Self.bytes(issuedAt), expiresAt: now + Self.memory)
    }

    /// Whether it has ended so that the sign-in may not begin any more.
    func hasEnded(_ origin: ProviderOrigin, in store: any SingleUseStore, now: Int64) async throws -> Bool {
        let record = try await store.singleUse(kind: kind.rawValue, hash: hash, now: now)
        return record.map { covers(origin, $0, now: now) } ?? false
    }

    /// The same in a transaction. An end that it does not find can't be remembered before the transaction has ended.
    func hasEnded(_ origin: ProviderOrigin, in transaction: any StoreTransaction, now: Int64) throws -> Bool {
        let record = try transaction.singleUse(kind: kind.rawValue, hash: hash, now: now)
        return record.map { covers(origin, $0, now: now) } ?? false
    }

    // MARK: Comparing

    /// Whether an end counts for a sign-in. Times are of the provider's clock, and of the same second the end counts as the
    /// later one.
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
