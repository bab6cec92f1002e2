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

    /// Checks the old password and sets a new one. All other families and sessions of the user end.
    ///
    /// - Parameters:
    ///   - keepFamily: the family of the request. It and its home session stay.
    ///   - keepSession: the session of the request. It stays if it belongs to that family.
    /// - Returns: the ids of the sessions that ended.
    package func changePassword(
        userID: String, current: String, new: String, keepFamily: String?, keepSession: String? = nil
    ) async throws -> [String] {
        let currentSecret = try Self.secret(current)
        let newSecret = try Self.secret(new)
        guard let account = try await state.account(userID: userID), !account.disabled,
            let stored = account.passwordHash.flatMap(PasswordHash.init)
        else { throw refused("no_password", userID: userID) }
        guard try await pool.run({ try stored.matches(currentSecret) }) else {
            throw refused("password_wrong", userID: userID, tenantID: account.tenantID)
        }
        do {
            return try await store(
                newSecret, in: account, judgedEpoch: account.credentialEpoch, keepFamily: keepFamily,
                keepSession: keepSession)
        } catch let error as StateSurfaceError where error.code == .ownerGone {
            // The password was changed in the meantime, or the caller's family has ended.
            throw refused("changed_meanwhile", userID: userID, tenantID: account.tenantID)
        }
    }

    private func refused(_ reason: String, userID: String, tenantID: String? = nil) -> AuthError {
        audit(AuditEvent(.passwordRefused, reason: reason, tenantID: tenantID, subject: userID))
        return AuthError(.invalidCredentials)
    }

    /// Sets a password without checking the old one, for operators. Every session of the user ends.
    package func setPassword(userID: String, new: String) async throws -> [String] {
        let secret = try Self.secret(new)
        guard let account = try await state.account(userID: userID) else { throw AuthError(.notFound) }
        do {
            return try await store(secret, in: account, judgedEpoch: nil, keepFamily: nil, keepSession: nil)
        } catch let error as StateSurfaceError where error.code == .ownerGone {
            throw AuthError(.notFound)
        }
    }

    private func store(
        _ secret: [UInt8], in account: AccountRecord, judgedEpoch: Int64?, keepFamily: String?, keepSession: String?
    ) async throws -> [String] {
        let hash = try await hashed(secret)
        let now = clock()
        let ended = try await state.changePassword(
            PasswordChange(
                userID: account.userID, passwordHash: hash, judgedEpoch: judgedEpoch, keptFamilyID: keepFamily,
                keptSessionID: keepSession, at: now, revokedUntil: now + policy.tokenReach))
        audit(AuditEvent(.passwordChanged, tenantID: account.tenantID, subject: account.userID))
        return ended
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

    static func checked(_ scope: [String]) throws(AuthError) -> [String] {
        guard scope.count <= Scope.maximumCount, scope.allSatisfy(Scope.isScopeToken) else {
            throw AuthError(
                .invalidRequest, "up to 64 scopes of visible ASCII without quotes (RFC 6749 §3.3)")
        }
        return scope
    }
}
