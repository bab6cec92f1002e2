/// The role for accounts, and for the external identities that map to them.
package protocol AccountStore: Sendable {
    /// Inserts an account.
    /// - Throws: `.duplicate` if the tenant already has the e-mail.
    func insert(account: AccountRecord) async throws
    /// The account with this id, or nil.
    func account(userID: String) async throws -> AccountRecord?
    /// The accounts with these ids, in no order; none for an id that no account has.
    func accounts(userIDs: [String]) async throws -> [AccountRecord]
    /// The accounts with this e-mail, at most one of each tenant. None for an empty key.
    func accounts(emailKey: String) async throws -> [AccountRecord]
    /// The accounts of a tenant, or all where none is named, newest first, at most `limit`, for operators.
    func accounts(tenantID: String?, limit: Int) async throws -> [AccountRecord]
    /// Replaces the account if its stored version is unchanged, as ``SessionStore/replace(session:)`` does. The
    /// credential epoch is not changed.
    /// - Returns: whether it was replaced.
    func replace(account record: AccountRecord) async throws -> Bool
    /// Sets a new password, increases the account's credential epoch, and ends every family and session of the user
    /// that is not kept, with their tokens, all in one transaction.
    /// - Returns: the ids of the sessions that ended.
    /// - Throws: `.ownerGone`, without any effect, if the account does not exist or has changed since it was checked,
    ///   or the caller's family has ended.
    func changePassword(_ change: PasswordChange) async throws -> [String]
    /// Disables the account, increases its credential epoch, ends every family and session of the user, and revokes
    /// every token that names an older version of the account, or that names none and was issued until `at`, all in one
    /// transaction.
    /// - Returns: whether there is such an account.
    func disable(userID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool
    /// The account that an external issuer and subject map to. The first time, atomically, it becomes the account of
    /// the tenant with this verified e-mail, if there is exactly one, or else is created with `create`.
    /// - Parameter verifiedEmailKey: in the form of ``AccountRecord/emailKey``; nil to look for none.
    func identity(
        issuer: String, subject: String, tenantID: String, linking verifiedEmailKey: String?,
        create: @escaping @Sendable () -> AccountRecord
    ) async throws -> AccountRecord
    /// The users that an external issuer and subject map to, at most one in each tenant.
    func userIDs(issuer: String, subject: String) async throws -> [String]
    /// Whether any account has this scope.
    func accountsHave(scope: String) async throws -> Bool
}

extension AccountStore {
    /// The account that an external issuer and subject map to. It is created with `create` the first time, atomically.
    package func identity(
        issuer: String, subject: String, tenantID: String, create: @escaping @Sendable () -> AccountRecord
    ) async throws -> AccountRecord {
        try await identity(issuer: issuer, subject: subject, tenantID: tenantID, linking: nil, create: create)
    }
}
