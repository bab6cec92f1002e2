import IdentityProviders
import StateSurface

/// What has to be remembered between requests of sign-ins through providers, in the store, so that any node goes on.
package struct ProviderMemory: Sendable {
    private static let pendingLogin = "pending_login"
    private static let logoutToken = "logout_token"

    private let store: any SingleUseStore
    private let clock: @Sendable () -> Int64

    package init(store: any SingleUseStore, clock: @escaping @Sendable () -> Int64) {
        self.store = store
        self.clock = clock
    }

    /// Keeps a sign-in that has begun, with the store's time at which it did. To be called before the browser is sent
    /// away. Of a session's, the oldest beyond ten is dropped.
    package func keep(_ pending: PendingLogin) async throws {
        var pending = pending
        pending.keptAt = try await store.storeTime()
        let record = SingleUseRecord(
            kind: Self.pendingLogin, hash: pending.stateHash, owner: pending.sessionID,
            payload: Array(pending.stored.utf8), expiresAt: pending.expiresAt)
        try await store.put(singleUse: record, limit: PendingLogin.maximumPerSession, now: clock())
    }

    /// A sign-in that has begun; nil if there is none of this hash, or it has expired or was taken.
    package func find(stateHash: [UInt8]) async throws -> PendingLogin? {
        let record = try await store.singleUse(kind: Self.pendingLogin, hash: stateHash, now: clock())
        return record.flatMap {
            PendingLogin(stateHash: stateHash, stored: String(decoding: $0.payload, as: UTF8.self))
        }
    }

    /// Takes a sign-in out, so that one caller among all nodes finishes it.
    /// - Returns: whether it was there.
    package func take(stateHash: [UInt8]) async throws -> Bool {
        try await store.take(singleUse: Self.pendingLogin, hash: stateHash, now: clock()) != nil
    }

    /// Whether a logout token was obeyed before.
    package func knows(_ replay: LogoutToken.Replay) async throws -> Bool {
        try await store.singleUse(kind: Self.logoutToken, hash: replay.hash, now: clock()) != nil
    }

    /// Remembers what a provider has ended, and when it was told here. To be called once the logout token is there, and
    /// before the families are looked for: a sign-in that is being finished meanwhile either is refused for what is
    /// remembered here, or has written its family when this returns.
    ///
    /// - Parameter issuedAt: the `iat` of the logout token, in milliseconds.
    package func noteEnd(of target: LogoutToken.Target, issuedAt: Int64, ofProvider name: String) async throws {
        let toldAt = try await store.storeTime()
        for end in ProviderEnd.ends(of: target, ofProvider: name) {
            for record in end.records(issuedAt: issuedAt, toldAt: toldAt, now: clock()) {
                try await store.raise(singleUse: record)
            }
        }
    }

    /// Whether a provider has ended what a sign-in begins with, so that it may not begin any more: the session that the
    /// ID token names, or everything of the person until after it was issued. A sign-in that began here after the end was
    /// told is a new one, and not meant.
    ///
    /// A sign-in that may begin is asked again when it is written: ``SignInService/signIn(_:target:named:clientAddress:)``.
    package func hasEnded(_ origin: ProviderOrigin) async throws -> Bool {
        let now = clock()
        for end in ProviderEnd.ends(before: origin) where try await end.hasEnded(origin, in: store, now: now) {
            return true
        }
        return false
    }

    /// Remembers a logout token that was obeyed. Only then: one that met a failing store may come again.
    package func remember(_ replay: LogoutToken.Replay) async throws {
        _ = try await store.first(kind: Self.logoutToken, hash: replay.hash, expiresAt: replay.until)
    }
}
