/// Accounts, and the external identities that map to them.
package protocol AccountStore: Sendable {
    /// - Throws: `.duplicate` when the tenant already has the e-mail.
    func insert(account: AccountRecord) async throws
    func account(userID: String) async throws -> AccountRecord?
    /// The accounts with this e-mail, at most one of each tenant. None for an empty key.
    func accounts(emailKey: String) async throws -> [AccountRecord]
    /// Any accounts, newest first, for operators.
    func accounts(limit: Int) async throws -> [AccountRecord]
    /// Replaces by `version`, as ``SessionStore/replace(session:)`` does. The credential epoch stays as it is.
    /// - Returns: whether it was replaced.
    func replace(account record: AccountRecord) async throws -> Bool
    /// In one transaction: the new password, a new epoch of the account, and the end of every family and session of the
    /// user that is not kept, with their tokens.
    /// - Returns: the ids of the sessions that ended.
    /// - Throws: `.ownerGone`, with nothing done, when the account is no longer as it was judged, there is none, or the
    ///   caller's family has ended.
    func changePassword(_ change: PasswordChange) async throws -> [String]
    /// In one transaction: disabled flag set, a new epoch of the account, every family and session of the user ended,
    /// and every token revoked that names a version of the account before this one, or that names none and was issued
    /// until `at`.
    /// - Returns: whether there is such an account.
    func disable(userID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool
    /// The user that an external (issuer, subject) maps to; made with `create` the first time, atomically.
    func identity(
        issuer: String, subject: String, tenantID: String, create: @escaping @Sendable () -> AccountRecord
    ) async throws -> AccountRecord
}
