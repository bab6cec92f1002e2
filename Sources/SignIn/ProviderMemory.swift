import IdentityProviders
import StateSurface

/// What has to be remembered between requests of sign-ins through providers, in the store, so that any node goes on.
package struct ProviderMemory: Sendable {
    private static let pendingLogin = "pending_login"
    private static let logoutToken = "logout_token"
    private static let endedSession = "provider_session_ended"
    private static let endedPerson = "provider_person_ended"
    private static let endedSessionless = "provider_sessionless_ended"
    /// How long what a provider ended is remembered, in milliseconds: as long as an ID token from before the end is
    /// accepted, and some minutes, because clocks differ.
    private static let endedFor = ProviderToken.maximumAge + 300_000
    /// How long after an end it also counts for newer ID tokens, in milliseconds: for those that name the session that
    /// ended, or an authentication from before. With one of a later day the provider has let the person in again.
    private static let settling: Int64 = 86_400_000

    private let store: any SingleUseStore
    private let clock: @Sendable () -> Int64

    package init(store: any SingleUseStore, clock: @escaping @Sendable () -> Int64) {
        self.store = store
        self.clock = clock
    }

    /// Keeps a sign-in that has begun. Of a session's, the oldest beyond ten is dropped.
    package func keep(_ pending: PendingLogin) async throws {
        let record = SingleUseRecord(
            kind: Self.pendingLogin, hash: pending.stateHash, owner: pending.sessionID,
            payload: Array(pending.stored.utf8), expiresAt: pending.expiresAt)
        try await store.put(singleUse: record, limit: PendingLogin.maximumPerSession, now: clock())
    }

    /// Takes a sign-in out, so that one caller among all nodes finds it.
    package func take(stateHash: [UInt8]) async throws -> PendingLogin? {
        let record = try await store.take(singleUse: Self.pendingLogin, hash: stateHash, now: clock())
        return record.flatMap {
            PendingLogin(stateHash: stateHash, stored: String(decoding: $0.payload, as: UTF8.self))
        }
    }

    /// Whether a logout token was obeyed before.
    package func knows(_ replay: LogoutToken.Replay) async throws -> Bool {
        try await store.singleUse(kind: Self.logoutToken, hash: replay.hash, now: clock()) != nil
    }

    /// Remembers what a provider has ended. To be called before its families are looked for: a sign-in that is being
    /// finished meanwhile asks ``hasEnded(_:)`` when its own family is written.
    ///
    /// - Parameter issuedAt: the `iat` of the logout token, in milliseconds.
    package func noteEnd(of target: LogoutToken.Target, issuedAt: Int64, ofProvider name: String) async throws {
        switch target {
        case .session(let session, let person):
            try await raise(Self.endedSession, session, name, issuedAt)
            if let person { try await raise(Self.endedSessionless, person, name, issuedAt) }
        case .subject(let person): try await raise(Self.endedPerson, person, name, issuedAt)
        }
    }

    /// Whether a provider has ended what a sign-in begins with, so that it may not begin any more: the session that the
    /// ID token names, or everything of the person until after it was issued.
    package func hasEnded(_ origin: ProviderOrigin) async throws -> Bool {
        if let session = origin.session {
            if let end = try await end(Self.endedSession, session, origin.provider),
                end.isRecent || end.covers(origin.issuedAt)
            {
                return true
            }
        } else if try await isBefore(Self.endedSessionless, origin) {
            return true
        }
        return try await isBefore(Self.endedPerson, origin)
    }

    /// Remembers the newest of the ends of a kind.
    private func raise(_ kind: String, _ named: String, _ name: String, _ issuedAt: Int64) async throws {
        let record = SingleUseRecord(
            kind: kind, hash: Self.hash(named, name), owner: "", payload: Self.bytes(issuedAt),
            expiresAt: clock() + Self.endedFor)
        try await store.raise(singleUse: record)
    }

    /// An end of a kind, as it is remembered; nil if there is none.
    private func end(_ kind: String, _ named: String, _ name: String) async throws -> RememberedEnd? {
        let now = clock()
        return try await store.singleUse(kind: kind, hash: Self.hash(named, name), now: now).map { record in
            RememberedEnd(at: record.payload, isRecent: now < record.expiresAt - Self.endedFor + Self.settling)
        }
    }

    private struct RememberedEnd {
        /// When the provider says it was.
        let at: [UInt8]
        /// Whether it was told within the last day.
        let isRecent: Bool

        /// Whether it was no earlier than a time. Both are of the provider's clock, and of the same second the end
        /// counts as the later one.
        func covers(_ time: Int64?) -> Bool { time.map { !ProviderMemory.bytes($0).isAfter(at) } ?? true }
    }

    /// Whether the sign-in is of a time that an end of this kind covers.
    private func isBefore(_ kind: String, _ origin: ProviderOrigin) async throws -> Bool {
        guard let issuedAt = origin.issuedAt, let end = try await end(kind, origin.subject, origin.provider) else {
            return false
        }
        return end.covers(end.isRecent ? min(issuedAt, origin.authenticatedAt ?? issuedAt) : issuedAt)
    }

    /// Milliseconds so that later ones are greater, byte by byte.
    private static func bytes(_ time: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: max(0, time) >> (56 - 8 * Int64($0))) }
    }

    private static func hash(_ session: String, _ name: String) -> [UInt8] {
        // A provider's name has no space.
        PendingLogin.hash(ofState: name + " " + session)
    }

    /// Remembers a logout token that was obeyed. Only then: one that met a failing store may come again.
    package func remember(_ replay: LogoutToken.Replay) async throws {
        _ = try await store.first(kind: Self.logoutToken, hash: replay.hash, expiresAt: replay.until)
    }
}

extension [UInt8] {
    fileprivate func isAfter(_ other: [UInt8]) -> Bool { other.lexicographicallyPrecedes(self) }
}
