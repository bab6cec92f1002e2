import StateSurface

/// Accounts and their passwords. It can be used without a gateway, as `gatehouse users` does.
///
/// Refusals are thrown as ``AuthError``, failures of the store as the store's errors.
package struct Accounts: Sendable {
    let state: any AccountStore
    let policy: TokenPolicy
    let pool: HashPool
    let clock: @Sendable () -> Int64
    let audit: AuditSink

    package init(
        state: any AccountStore, policy: TokenPolicy, clock: @escaping @Sendable () -> Int64,
        audit: @escaping AuditSink = { _ in }
    ) {
        self.state = state
        self.policy = policy
        self.clock = clock
        self.audit = audit
        let threads = policy.hashingThreads > 0 ? policy.hashingThreads : HashPool.defaultThreads
        pool = HashPool(threads: threads, queue: policy.hashingQueue)
    }

    /// An e-mail in the form in which it is compared: without surrounding ASCII white space, with ASCII letters in
    /// lower case.
    package static func emailKey(_ email: String) -> String {
        String(decoding: trimmed(email).utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The e-mail as the key of rate limits: ``emailKey(_:)``, cut off at 320 bytes, which no account's e-mail reaches.
    package static func limitKey(_ email: String) -> String {
        String(decoding: emailKey(email).utf8.prefix(320), as: UTF8.self)
    }

    static func trimmed(_ email: String) -> String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let bytes = email.utf8.drop(while: isSpace)
        let end = bytes.lastIndex { !isSpace($0) }.map(bytes.index(after:)) ?? bytes.startIndex
        return String(decoding: bytes[bytes.startIndex..<end], as: UTF8.self)
    }

    /// Checks a password. Every refusal is the same and takes the same time, whether or not there is such an account.
    package func authenticate(email: String, password: String, tenantID: String?) async throws -> AccountRecord {
        let secret = try Self.secret(password)
        guard email.utf8.count <= 1024, (tenantID?.utf8.count ?? 0) <= 128 else {
            throw AuthError(.invalidRequest, "email or tenant_id is too long")
        }
        // An e-mail that no account can have is not looked up; NUL, for example, is treated differently by every store.
        let key = Self.emailKey(email)
        let found = NameRule.isEmail(key) ? try await state.accounts(emailKey: key) : []
        let candidates = found.filter { account in tenantID.map { sameBytes(account.tenantID, $0) } ?? true }
        let account = LoginChoice.account(of: candidates, defaultTenant: policy.loginTenant)
        let stored = account?.passwordHash.flatMap(PasswordHash.init)
        let attempt = stored ?? .unmatchable(policy.scrypt)
        let matches = try await pool.run { try attempt.matches(secret) }
        guard let account, stored != nil, matches, !account.disabled else {
            let reason = Self.reason(candidates, chosen: account, hasPassword: stored != nil, matches: matches)
            audit(
                AuditEvent(.loginRefused, reason: reason, tenantID: account?.tenantID, subject: account?.userID))
            throw AuthError(.invalidCredentials)
        }
        return await strengthened(account, secret, attempt)
    }

    private static func reason(
        _ candidates: [AccountRecord], chosen: AccountRecord?, hasPassword: Bool, matches: Bool
    ) -> String {
        if candidates.isEmpty { return "account_unknown" }
        if chosen == nil { return "tenant_ambiguous" }
        if !hasPassword { return "no_password" }
        return matches ? "disabled" : "password_wrong"
    }

    /// Hashes the password again if the parameters have been raised. If that cannot be stored, the login still
    /// succeeds, and it is tried again at the next one. The credential epoch stays, because the password does.
    private func strengthened(
        _ account: AccountRecord, _ secret: [UInt8], _ hash: PasswordHash
    ) async -> AccountRecord {
        let parameters = policy.scrypt
        guard hash.parameters.isWeaker(than: parameters),
            let text = try? await pool.run({ try PasswordHash.make(secret, parameters).text })
        else { return account }
        var updated = account
        updated.passwordHash = text
        guard (try? await state.replace(account: updated)) == true else { return account }
        updated.version += 1
        return updated
    }

    func hashed(_ secret: [UInt8]) async throws -> String {
        let parameters = policy.scrypt
        return try await pool.run { try PasswordHash.make(secret, parameters).text }
    }

    /// The bytes to hash: exactly those that were sent, neither truncated nor normalised.
    static func secret(_ password: String) throws(AuthError) -> [UInt8] {
        guard (1...1024).contains(password.utf8.count) else {
            throw AuthError(.invalidRequest, "a password has 1 to 1024 bytes")
        }
        // HMAC in scrypt pads short keys with NUL, so "x" and "x\0" would be the same password.
        guard !password.utf8.contains(0) else { throw AuthError(.invalidRequest, "a password has no NUL") }
        return Array(password.utf8)
    }
}
