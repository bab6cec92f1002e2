/// An error with which a caller rolls a transaction back.
package protocol TransactionAbort: Error, Sendable {}

/// An open transaction over sessions, accounts, families and revocations. It may be used only inside the closure that
/// gets it.
///
/// The operations are those of the roles, but synchronous. To avoid deadlocks in stores with row locks, rows must be
/// used in this order: the account, its families, their sessions.
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
    /// As ``SessionStore/surplusSessions(userID:sparing:limit:)``.
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
}
