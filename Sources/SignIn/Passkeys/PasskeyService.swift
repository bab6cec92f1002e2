import Encodings
import Passkeys
import Runtime
import SecurityGuard
import StateSurface

/// The use cases of passkeys (WebAuthn): registering them while signed in, and signing in with one.
///
/// What an authenticator says is judged by the module Passkeys. A ceremony that was begun is a single-use record, bound
/// to the session that began it and to its epoch, so any node can finish it, once, within five minutes. A sign-in ends
/// in ``SignInService/signIn(_:target:named:clientAddress:)`` like every other.
package struct PasskeyService: Sendable {
    /// The roles of the store that it uses.
    package typealias Store = PasskeyStore & SingleUseStore & AccountStore

    /// The most passkeys of one account.
    package static let maximumPerAccount = 20
    /// The most ceremonies that a session has begun and not finished; a further one replaces the oldest.
    package static let maximumPending = 10
    /// The longest name of a passkey, in bytes.
    package static let maximumNameBytes = 64
    /// The kind of the single-use records.
    static let recordKind = "passkey"

    let party: RelyingParty
    let store: any Store
    let signIn: SignInService
    let clock: @Sendable () -> Int64

    /// The service with its parts.
    ///
    /// - Parameters:
    ///   - party: the gateway as WebAuthn knows it.
    ///   - signIn: has the rate limits of logins and the audit log.
    ///   - clock: milliseconds since 1970.
    package init(
        party: RelyingParty, store: any Store, signIn: SignInService, clock: @escaping @Sendable () -> Int64
    ) {
        self.party = party
        self.store = store
        self.signIn = signIn
        self.clock = clock
    }

    /// The account of an access token. A token without one, or whose account is disabled, is refused.
    func account(of principal: Principal) async throws -> AccountRecord {
        guard principal.isUser, let account = try await store.account(userID: principal.subject), !account.disabled
        else { throw AuthError(.invalidCredentials) }
        return account
    }

    // MARK: Ceremonies

    /// Stores a ceremony until it is finished or its time is over.
    func keep(_ ceremony: Ceremony) async throws {
        let record = SingleUseRecord(
            kind: Self.recordKind, hash: ceremony.challengeHash, owner: ceremony.sessionID,
            payload: Array(ceremony.stored.utf8), expiresAt: ceremony.expiresAt)
        try await store.put(singleUse: record, limit: Self.maximumPending, now: clock())
    }

    /// Takes a ceremony out of the store; nil if there is none, or it was taken before.
    func take(challengeHash: [UInt8]) async throws -> Ceremony? {
        let record = try await store.take(singleUse: Self.recordKind, hash: challengeHash, now: clock())
        return record.flatMap { Ceremony(challengeHash: $0.hash, stored: $0.payload) }
    }

    // MARK: The passkeys of an account

    /// The passkeys of the account, oldest first.
    package func passkeys(of principal: Principal) async throws -> [PasskeyRecord] {
        try await store.passkeys(userID: account(of: principal).userID)
    }

    /// Removes a passkey of the account. Sessions that were opened with it stay.
    /// - Throws: ``PasskeyFault`` `.unknown` if the account has no such passkey; the store's errors.
    package func remove(credentialID: [UInt8], of principal: Principal) async throws {
        let account = try await account(of: principal)
        guard try await store.removePasskey(credentialID: credentialID, userID: account.userID) else {
            throw PasskeyFault(.unknown)
        }
        signIn.securityGuard.record(
            AuditEvent(.passkeyRemoved, tenantID: account.tenantID, subject: account.userID))
    }
}

extension Passkey {
    /// A passkey as it is stored; nil if its algorithm or counter is none that this version knows.
    init?(_ record: PasskeyRecord) {
        guard let algorithm = PasskeyAlgorithm(rawValue: record.algorithm),
            let signCount = UInt32(exactly: record.signCount)
        else { return nil }
        self.init(
            credentialID: record.credentialID, userID: record.userID, publicKey: record.publicKey,
            algorithm: algorithm, signCount: signCount, isBackupEligible: record.isBackupEligible,
            isBackedUp: record.isBackedUp, aaguid: record.aaguid, transports: record.transports,
            createdAt: record.createdAt)
    }

    /// The passkey as it is stored.
    func record(name: String) -> PasskeyRecord {
        PasskeyRecord(
            credentialID: credentialID, userID: userID, name: name, publicKey: publicKey,
            algorithm: algorithm.rawValue, signCount: Int64(signCount), isBackupEligible: isBackupEligible,
            isBackedUp: isBackedUp, aaguid: aaguid, transports: transports, createdAt: createdAt)
    }
}
