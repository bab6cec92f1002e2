import OAuth
import StateSurface

extension Accounts {
    /// Creates an account, for `gatehouse users add` and for ``register(email:password:tenantID:terms:)``.
    ///
    /// - Parameter emailVerified: whether the caller vouches for the e-mail, as the operator does.
    package func add(
        email: String, password: String, tenantID: String?, scope: [String]? = nil, emailVerified: Bool = true,
        profile: AccountProfile = AccountProfile()
    ) async throws -> AccountRecord {
        let secret = try Self.secret(password)
        let key = Self.emailKey(email)
        guard NameRule.isEmail(key) else {
            throw AuthError(.invalidRequest, "an e-mail is local@domain in at most 254 bytes, without spaces")
        }
        let tenant = tenantID ?? policy.defaultTenant
        guard NameRule.isTenant(tenant) else {
            throw AuthError(.invalidRequest, "a tenant has 1 to 64 letters, digits, '.', '_' or '-'")
        }
        let scope = try Self.checked(scope ?? policy.defaultScope)
        let profile = try profile.checked()
        let account = AccountRecord(
            userID: RandomID.make(Prefix.user), tenantID: tenant, email: Self.trimmed(email), emailKey: key,
            passwordHash: try await hashed(secret), scope: scope, createdAt: clock(), emailVerified: emailVerified,
            name: profile.name, groups: profile.groups)
        do {
            try await state.insert(account: account)
        } catch let error as StateSurfaceError where error.code == .duplicate {
            throw AuthError(.emailTaken, "the tenant has an account with this e-mail")
        }
        audit(AuditEvent(.registered, tenantID: tenant, subject: account.userID))
        return account
    }

    /// Registers an account, if the terms allow it, in a tenant that is open for registration or in a new one of its
    /// own.
    package func register(
        email: String, password: String, tenantID: String?, terms: RegistrationTerms
    ) async throws -> AccountRecord {
        guard terms.isOpen else { throw AuthError(.registrationClosed, "accounts.registration is false") }
        let open = terms.tenants
        if let tenantID, !open.contains(where: { sameBytes($0, tenantID) }) {
            throw AuthError(.invalidRequest, "accounts.registration_tenants does not list this tenant_id")
        }
        let shared = tenantID ?? (open.count == 1 ? open.first : nil)
        try await requireUnclaimed(email, inTenantOfItsOwn: shared == nil)
        return try await add(
            email: email, password: password, tenantID: shared ?? RandomID.make(Prefix.tenant), emailVerified: false)
    }

    /// Refuses a second registration of an e-mail that is registered in a tenant of its own: users of such tenants log
    /// in without naming the tenant, which would no longer be possible, and many registrations would slow each login
    /// down.
    private func requireUnclaimed(_ email: String, inTenantOfItsOwn isOwn: Bool) async throws {
        let key = Self.emailKey(email)
        guard NameRule.isEmail(key) else { return }
        let registered = try await state.accounts(emailKey: key).filter { !$0.emailVerified }
        let isTaken = registered.contains { isOwn || $0.tenantID.utf8.starts(with: Prefix.tenant.utf8) }
        if isTaken { throw AuthError(.emailTaken, "this e-mail is already registered") }
    }

    /// Checks the old password, and prepares the change to a new one, which the caller writes.
    func preparePassword(userID: String, current: String, new: String) async throws -> PreparedPassword {
        let currentSecret = try Self.secret(current)
        let newSecret = try Self.secret(new)
        guard let account = try await state.account(userID: userID), !account.disabled,
            let stored = account.passwordHash.flatMap(PasswordHash.init)
        else { throw refused("no_password", userID: userID) }
        guard try await pool.run({ try stored.matches(currentSecret) }) else {
            throw refused("password_wrong", userID: userID, tenantID: account.tenantID)
        }
        return try await prepare(newSecret, in: account, judgedEpoch: account.credentialEpoch)
    }

    /// Records that a new password was refused.
    func refused(_ reason: String, userID: String, tenantID: String? = nil) -> AuthError {
        audit(AuditEvent(.passwordRefused, reason: reason, tenantID: tenantID, subject: userID))
        return AuthError(.invalidCredentials)
    }

    /// Sets a password without checking the old one, for operators. Every session of the user ends.
    package func setPassword(userID: String, new: String) async throws -> [String] {
        let secret = try Self.secret(new)
        guard let account = try await state.account(userID: userID) else { throw AuthError(.notFound) }
        let password = try await prepare(secret, in: account, judgedEpoch: nil)
        do {
            let ended = try await state.changePassword(password.change)
            reportPasswordChange(userID: userID, tenantID: account.tenantID)
            return ended
        } catch let error as StateSurfaceError where error.code == .ownerGone {
            throw AuthError(.notFound)
        }
    }

    private func prepare(
        _ secret: [UInt8], in account: AccountRecord, judgedEpoch: Int64?
    ) async throws -> PreparedPassword {
        let hash = try await hashed(secret)
        let now = clock()
        return PreparedPassword(
            change: PasswordChange(
                userID: account.userID, passwordHash: hash, judgedEpoch: judgedEpoch, at: now,
                revokedUntil: now + policy.tokenReach),
            tenantID: account.tenantID)
    }

    func reportPasswordChange(userID: String, tenantID: String) {
        audit(AuditEvent(.passwordChanged, tenantID: tenantID, subject: userID))
    }

    /// Disables an account, and ends its families, sessions and tokens. False if there is no such account.
    package func disable(userID: String) async throws -> Bool {
        let now = clock()
        let found = try await state.disable(userID: userID, at: now, revokedUntil: now + policy.tokenReach)
        if found { audit(AuditEvent(.accountDisabled, subject: userID)) }
        return found
    }

    /// Enables a disabled account. The sessions and tokens that ended stay ended.
    /// - Returns: whether it was disabled.
    package func enable(userID: String) async throws -> Bool {
        guard var account = try await state.account(userID: userID) else { throw AuthError(.notFound) }
        guard account.disabled else { return false }
        account.disabled = false
        guard try await state.replace(account: account) else {
            throw AuthError(.conflict, "the account was changed at the same moment; try again")
        }
        return true
    }

    /// The account with this user id, or the accounts with this e-mail, for operators.
    package func find(_ name: String, tenantID: String?) async throws -> [AccountRecord] {
        if NameRule.hasShape(name, prefix: Prefix.user) {
            return try await state.account(userID: name).map { [$0] } ?? []
        }
        return try await state.accounts(emailKey: Self.emailKey(name)).filter { account in
            tenantID.map { sameBytes(account.tenantID, $0) } ?? true
        }
    }

    /// The scopes as they are, if an account or a client can have them.
    package static func checked(_ scope: [String]) throws(AuthError) -> [String] {
        guard scope.count <= Scope.maximumCount, scope.allSatisfy(Scope.isScopeToken) else {
            throw AuthError(
                .invalidRequest, "up to 64 scopes of visible ASCII without quotes (RFC 6749 §3.3)")
        }
        return scope
    }
}
