import StateSurface

extension Accounts {
    /// Makes an account. `gatehouse users add` comes here, and through ``register(email:password:tenantID:)`` strangers.
    ///
    /// - Parameter emailVerified: whether whoever asks vouches for the e-mail, as the operator does.
    package func add(
        email: String, password: String, tenantID: String?, scope: [String]? = nil, emailVerified: Bool = true
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
        let account = AccountRecord(
            userID: RandomID.make(Prefix.user), tenantID: tenant, email: Self.trimmed(email), emailKey: key,
            passwordHash: try await hashed(secret), scope: scope, createdAt: clock(), emailVerified: emailVerified)
        do {
            try await state.insert(account: account)
        } catch let error as StateSurfaceError where error.code == .duplicate {
            throw AuthError(.emailTaken, "the tenant has an account with this e-mail")
        }
        audit(AuditEvent(.registered, tenantID: tenant, subject: account.userID))
        return account
    }

    /// Makes an account for a stranger, where the configuration allows it: in a tenant that is open to strangers, or in a
    /// new one of its own.
    package func register(email: String, password: String, tenantID: String?) async throws -> AccountRecord {
        guard policy.registration else { throw AuthError(.registrationClosed, "accounts.registration is false") }
        let open = policy.registrationTenants
        if let tenantID, !open.contains(where: { sameBytes($0, tenantID) }) {
            throw AuthError(.invalidRequest, "accounts.registration_tenants does not list this tenant_id")
        }
        let shared = tenantID ?? (open.count == 1 ? open.first : nil)
        try await requireUnclaimed(email, inTenantOfItsOwn: shared == nil)
        return try await add(
            email: email, password: password, tenantID: shared ?? RandomID.make(Prefix.tenant), emailVerified: false)
    }

    /// Who has registered in a tenant of their own logs in without naming it: a second registration of the e-mail would
    /// take that away, and any number of them would make each login slower.
    private func requireUnclaimed(_ email: String, inTenantOfItsOwn isOwn: Bool) async throws {
        let key = Self.emailKey(email)
        guard NameRule.isEmail(key) else { return }
        let registered = try await state.accounts(emailKey: key).filter { !$0.emailVerified }
        let isTaken = registered.contains { isOwn || $0.tenantID.utf8.starts(with: Prefix.tenant.utf8) }
        if isTaken { throw AuthError(.emailTaken, "somebody has registered with this e-mail") }
    }

    /// Changes a password by the one before it; everything else of the user ends.
    ///
    /// - Parameters:
    ///   - keepFamily: the family in which it was asked for; it and its home session stay.
    ///   - keepSession: the session that asked: it stays if it belongs to that family.
    /// - Returns: the sessions that ended.
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
            // The password that was proved is the account's no more, or the caller has been logged out.
            throw refused("changed_meanwhile", userID: userID, tenantID: account.tenantID)
        }
    }

    private func refused(_ reason: String, userID: String, tenantID: String? = nil) -> AuthError {
        audit(AuditEvent(.passwordRefused, reason: reason, tenantID: tenantID, subject: userID))
        return AuthError(.invalidCredentials)
    }

    /// Sets a password without the old one: for operators. Every session of the user ends.
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

    /// Disables an account: its families, sessions and tokens end with it. False when there is no such account.
    package func disable(userID: String) async throws -> Bool {
        let now = clock()
        let found = try await state.disable(userID: userID, at: now, revokedUntil: now + policy.tokenReach)
        if found { audit(AuditEvent(.accountDisabled, subject: userID)) }
        return found
    }

    /// Lets a disabled account log in again. What ended when it was disabled stays ended.
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

    /// The account of a user id, or of an e-mail (with its tenant where several have it): for operators.
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
