import StateSurface

/// Accounts and their passwords. Usable without a gateway: `gatehouse users` works on one of these.
///
/// Refusals are thrown as ``AuthError``; a store that fails throws its own error.
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

    /// An e-mail as it is compared: without ASCII white space around it, ASCII letters in lower case.
    package static func emailKey(_ email: String) -> String {
        String(decoding: trimmed(email).utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The e-mail as limits count it: the account's key, whatever white space stands around it. It is cut only after
    /// that, and far behind the longest e-mail that an account can have.
    package static func limitKey(_ email: String) -> String {
        String(decoding: emailKey(email).utf8.prefix(320), as: UTF8.self)
    }

    static func trimmed(_ email: String) -> String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let bytes = email.utf8.drop(while: isSpace)
        let end = bytes.lastIndex { !isSpace($0) }.map(bytes.index(after:)) ?? bytes.startIndex
        return String(decoding: bytes[bytes.startIndex..<end], as: UTF8.self)
    }

    /// Proves a password. Every refusal looks and takes the same, whether or not there is such an account.
    package func authenticate(email: String, password: String, tenantID: String?) async throws -> AccountRecord {
        let secret = try Self.secret(password)
        guard email.utf8.count <= 1024, (tenantID?.utf8.count ?? 0) <= 128 else {
            throw AuthError(.invalidRequest, "email or tenant_id is too long")
        }
        // What no account can have is not worth a question: a NUL, say, means something else to every store.
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

    /// Hashes the password anew when the parameters have been raised. A login never fails because of that: what could
    /// not be written is written at the next one. The epoch stays, since the password does.
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

    /// The bytes that are hashed: exactly those that were sent, neither cut nor normalised.
    static func secret(_ password: String) throws(AuthError) -> [UInt8] {
        guard (1...1024).contains(password.utf8.count) else {
            throw AuthError(.invalidRequest, "a password has 1 to 1024 bytes")
        }
        // scrypt pads with NUL, so that "x" and "x\0" would be one password.
        guard !password.utf8.contains(0) else { throw AuthError(.invalidRequest, "a password has no NUL") }
        return Array(password.utf8)
    }
}
