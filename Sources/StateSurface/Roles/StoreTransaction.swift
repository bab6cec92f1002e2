/// An error with which a caller rolls a transaction back.
package protocol TransactionAbort: Error, Sendable {}

/// An open transaction over what use cases write together. It may be used only inside the closure that gets it.
///
/// The operations are those of the roles, but synchronous. To avoid deadlocks in stores with row locks, rows must be
/// used in this order: single-use records, the turn of a protocol session, the turn to open a session, clients
/// that are kept, the account, its families, their sessions, protocol sessions.
package protocol StoreTransaction {
    /// Says why sessions end from here on in this transaction, for the receivers of its ``StoreEvent``. Nil for the
    /// reasons of the operations themselves.
    func setEndReason(_ reason: String?)

    // MARK: Sessions
    /// As ``SessionStore/insert(session:)``.
    func insert(session: SessionRecord) throws
    /// As ``SessionStore/session(id:)``. The row is not locked; ``replace(session:)`` detects a concurrent change.
    func session(id: String) throws -> SessionRecord?
    /// As ``SessionStore/replace(session:)``.
    func replace(session record: SessionRecord) throws -> Bool
    /// As ``SessionStore/expire(session:)``. Locks the family before the session.
    func expire(session record: SessionRecord) throws -> ExpiredSessions?
    /// To be called before any row is locked, by a transaction that opens a session and ends what
    /// ``surplusSessions(userID:sparing:limit:)`` returns. Of several at once that do so, no more than `limit` stay: near
    /// the limit they come one after the other, so that each counts the sessions of those before it.
    func takeTurnToOpenSession(of userID: String, limit: Int) throws
    /// Live sessions of a user over `limit`, a bounded number: guests before homes, and among these the longest unused
    /// first. `sparing` is never among them.
    func surplusSessions(userID: String, sparing: String, limit: Int) throws -> [SurplusSession]

    // MARK: Accounts
    /// As ``AccountStore/account(userID:)``. Not locked.
    func account(userID: String) throws -> AccountRecord?
    /// As ``AccountStore/changePassword(_:)``.
    func changePassword(_ change: PasswordChange) throws -> [String]

    // MARK: Families and revocations
    /// As ``FamilyStore/insert(family:judged:)``. Locks the account and the client that were checked.
    func insert(family: FamilyRecord, judged: JudgedOwner) throws
    /// As ``FamilyStore/family(id:)``. The row is locked until the transaction ends.
    func family(id: String) throws -> FamilyRecord?
    /// The live families of a user whose home is this session. The rows are locked until the transaction ends.
    func families(of userID: String, atHomeIn sessionID: String) throws -> [FamilyRecord]
    /// As ``FamilyStore/rotate(family:)``.
    func rotate(family record: FamilyRecord) throws -> Bool
    /// As ``FamilyStore/extend(familyID:tokenExpiresAt:key:)``.
    func extend(familyID: String, tokenExpiresAt: Milliseconds, key: String?) throws -> Bool
    /// As ``FamilyStore/endFamily(id:at:revokedUntil:)``.
    func endFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) throws -> [String]
    /// As ``RevocationStore/revoke(_:)``.
    func revoke(_ revocation: Revocation) throws

    // MARK: Clients and grants
    /// As ``GrantStore/keep(documentClient:)``. The row is locked until the transaction ends.
    func keep(documentClient record: ClientRecord) throws
    /// As ``GrantStore/open(grant:judged:in:consent:)``. Locks the account, the client and the session. If it returns
    /// false, it has written nothing; what the transaction has written besides is kept.
    func open(
        grant family: FamilyRecord, judged: JudgedOwner, in session: AuthorizingSession, consent: GrantConsent
    ) throws -> Bool

    // MARK: Single-use records
    /// As ``SingleUseStore/put(singleUse:limit:now:)``.
    func put(singleUse record: SingleUseRecord, limit: Int, now: Milliseconds) throws
    /// As ``SingleUseStore/take(singleUse:hash:now:)``. Of several concurrent transactions, one gets the record; if it is
    /// rolled back, the record is still there.
    func take(singleUse kind: String, hash: [UInt8], now: Milliseconds) throws -> SingleUseRecord?
    /// As ``SingleUseStore/singleUse(kind:hash:now:)``. Until the transaction ends, no other one raises the record, also
    /// if there is none yet: see ``SingleUseStore/raise(singleUse:)``.
    func singleUse(kind: String, hash: [UInt8], now: Milliseconds) throws -> SingleUseRecord?

    // MARK: Protocol sessions
    /// As ``ProtocolSessionStore/protocolSession(hash:since:)``, however long it was not used. Until the transaction ends,
    /// others wait that read it in this way, also if there is none yet.
    func protocolSession(hash: [UInt8]) throws -> ProtocolSessionRecord?
    /// As ``ProtocolSessionStore/bind(protocolSession:)``. Locks the family. If it returns false, it has written nothing;
    /// what the transaction has written besides is kept.
    func bind(protocolSession record: ProtocolSessionRecord) throws -> Bool
    /// As ``ProtocolSessionStore/end(protocolSession:)``.
    func end(protocolSession record: ProtocolSessionRecord) throws
}
