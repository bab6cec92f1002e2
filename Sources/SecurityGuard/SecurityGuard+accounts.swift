import StateSurface

extension SecurityGuard {
    /// Checks a password. Throws the same ``AuthError`` for every reason to refuse, or the store's error.
    package func authenticate(
        email: String, password: String, tenantID: String? = nil
    ) async throws -> AccountRecord {
        try await accounts.authenticate(email: email, password: password, tenantID: tenantID)
    }

    /// Registers an account, if the terms allow it.
    package func register(
        email: String, password: String, tenantID: String? = nil, terms: RegistrationTerms
    ) async throws -> AccountRecord {
        try await accounts.register(email: email, password: password, tenantID: tenantID, terms: terms)
    }

    /// Checks the old password, and prepares the change to a new one.
    ///
    /// It writes nothing: write ``PreparedPassword/change``, and call ``report(_:)`` once it is durable. If the store
    /// says `.ownerGone`, the refusal is what `changedMeanwhile` returns.
    /// - Throws: ``AuthError``; the store's errors.
    package func preparePassword(userID: String, current: String, new: String) async throws -> PreparedPassword {
        try await accounts.preparePassword(userID: userID, current: current, new: new)
    }

    /// Records a change of a password in the audit log, after it is durable.
    package func report(_ password: PreparedPassword) {
        accounts.reportPasswordChange(userID: password.change.userID, tenantID: password.tenantID)
    }

    /// The refusal of a change of a password that was changed by others, or whose family has ended, after the old
    /// password was checked.
    package func changedMeanwhile(_ password: PreparedPassword) -> AuthError {
        accounts.refused("changed_meanwhile", userID: password.change.userID, tenantID: password.tenantID)
    }

    /// The account with this id, or nil.
    package func account(userID: String) async throws -> AccountRecord? {
        try await state.account(userID: userID)
    }
}

extension SecurityGuard {
    /// How many logins wait for a thread that hashes passwords.
    package var waitingLogins: Int { accounts.pool.waitingCount }
}

// MARK: Refresh families
extension SecurityGuard {
    /// A new id for a family of this account.
    package func newFamilyID(for account: AccountRecord) -> String { FamilyID.make(accountVersion: account.version) }

    /// Prepares a family for an account that has just authenticated.
    ///
    /// It writes nothing: insert the family with ``FamilyOpening/insert(in:)``, which fails if the account has changed
    /// since, and call ``report(_:method:)`` once it is durable.
    /// - Parameters:
    ///   - binding: the id of the home session.
    ///   - signIn: when and how the account's owner proved who they are; nil for just now, without a context class.
    package func prepareFamily(
        _ id: String, for account: AccountRecord, clientID: String = firstPartyClientID, binding: String?,
        signIn: SignInFacts? = nil
    ) throws -> FamilyOpening {
        try families.prepare(id, account, clientID: clientID, binding: binding, signIn: signIn)
    }

    /// Records in the audit log that a sign-in through a provider or with a token was refused.
    /// - Parameters:
    ///   - reason: one of a closed list; never a part of what others sent.
    ///   - provider: the provider's name in the configuration.
    package func noteRefusedSignIn(reason: String, provider: String? = nil, account: AccountRecord? = nil) {
        audit(
            AuditEvent(
                .loginRefused, reason: reason, tenantID: account?.tenantID, subject: account?.userID,
                provider: provider))
    }

    /// A new id for an account.
    package static func newUserID() -> String { RandomID.make(Prefix.user) }

    /// Records a login in the audit log, after its family is durable.
    /// - Parameter method: the method of authentication; empty for a password.
    package func report(_ opening: FamilyOpening, method: String) {
        families.report(.familyOpened, opening.record)
        audit(
            AuditEvent(
                .loginSucceeded, reason: method, tenantID: opening.record.tenantID, subject: opening.record.userID,
                clientID: opening.record.clientID, familyID: opening.record.id,
                provider: opening.record.signIn?.provider))
    }

    /// The refusal of a login whose account was disabled, or got another password, after it was checked.
    package func changedMeanwhile(_ account: AccountRecord) -> AuthError {
        audit(
            AuditEvent(
                .loginRefused, reason: "changed_meanwhile", tenantID: account.tenantID, subject: account.userID))
        return AuthError(.invalidCredentials)
    }

    /// When and how the owner of a live family signed in; nil if that is not known.
    package func signIn(ofFamily familyID: String?) async throws -> (authenticatedAt: Int64, acr: String?)? {
        guard let familyID, let family = try await state.family(id: familyID), family.isLive else { return nil }
        return family.signIn.map { ($0.authenticatedAt, $0.acr) }
    }

    /// Uses a refresh token: reads the family, decides, signs the new tokens, and lets `commit` write the result.
    ///
    /// - Parameters:
    ///   - clientID: if given, only a family of that client is accepted; if not, none that is for a resource.
    ///   - narrowing: the scopes of the new access token, if fewer than the family's are asked for. Only for a
    ///     resource.
    ///   - judging: throws what refuses the request for this family, whatever else is to be said of the token. It may be
    ///     called more than once.
    ///   - commit: writes the result durably, together with what else the caller has to check or write, and returns the
    ///     outcome. It may be called more than once if others refresh at the same time.
    package func refresh(
        _ refreshToken: String, clientID: String? = nil, narrowing: [String]? = nil,
        judging: (FamilyRecord) throws -> Void, commit: (RefreshWrite) async throws -> RefreshWritten
    ) async throws -> RefreshOutcome {
        try await families.refresh(
            refreshToken, clientID: clientID, narrowing: narrowing, judging: judging, commit: commit)
    }

    /// The family that a refresh token belongs or belonged to, live or not. Used for logging out.
    package func family(ofRefreshToken text: String) async throws -> FamilyRecord? {
        guard let token = RefreshToken(text) else { return nil }
        return try await state.family(tokenHash: token.hash)?.family
    }

    /// The end of a family at the present time; see ``FamilyEnd/end(_:in:)``.
    package func familyEnd() -> FamilyEnd { families.end() }

    /// Adds the revocation of an ended family to memory and records it in the audit log, after the end is durable.
    package func report(endOfFamily familyID: String, _ end: FamilyEnd, reason: String = "logout") {
        families.report(endOf: familyID, end, reason: reason)
    }
}
