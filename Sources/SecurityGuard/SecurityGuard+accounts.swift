import StateSurface

extension SecurityGuard {
    /// Proves a password. Throws ``AuthError``, the same for every reason to refuse, or the store's error.
    package func authenticate(
        email: String, password: String, tenantID: String? = nil
    ) async throws -> AccountRecord {
        try await accounts.authenticate(email: email, password: password, tenantID: tenantID)
    }

    /// Makes an account for a stranger, where `accounts.registration` allows it.
    package func register(email: String, password: String, tenantID: String? = nil) async throws -> AccountRecord {
        try await accounts.register(email: email, password: password, tenantID: tenantID)
    }

    /// Changes a password; all other families and sessions of the user end.
    /// - Returns: the sessions that ended.
    package func changePassword(
        userID: String, current: String, new: String, keepFamily: String? = nil, keepSession: String? = nil
    ) async throws -> [String] {
        try await accounts.changePassword(
            userID: userID, current: current, new: new, keepFamily: keepFamily, keepSession: keepSession)
    }

    package func account(userID: String) async throws -> AccountRecord? {
        try await state.account(userID: userID)
    }
}

// MARK: Refresh families
extension SecurityGuard {
    /// A new id for a family of this account.
    package func newFamilyID(for account: AccountRecord) -> String { FamilyID.make(accountVersion: account.version) }

    /// Prepares a family for an account that was just proved: for the account as it was judged, and no other.
    ///
    /// Nothing is written: insert it with ``FamilyOpening/insert(in:)``, and call ``report(_:)`` once that is durable.
    /// - Parameter binding: the session that the family is at home in.
    package func prepareFamily(
        _ id: String, for account: AccountRecord, clientID: String = firstPartyClientID, binding: String?
    ) throws -> FamilyOpening {
        try families.prepare(id, account, clientID: clientID, binding: binding)
    }

    /// Tells the audit log of a login whose family is durable.
    /// - Parameter method: how the account was proved; empty for a password.
    package func report(_ opening: FamilyOpening, method: String) {
        families.report(.familyOpened, opening.record)
        audit(
            AuditEvent(
                .loginSucceeded, reason: method, tenantID: opening.record.tenantID, subject: opening.record.userID,
                clientID: opening.record.clientID, familyID: opening.record.id))
    }

    /// What a login is told whose account was disabled, or given another password, since it was proved.
    package func changedMeanwhile(_ account: AccountRecord) -> AuthError {
        audit(
            AuditEvent(
                .loginRefused, reason: "changed_meanwhile", tenantID: account.tenantID, subject: account.userID))
        return AuthError(.invalidCredentials)
    }

    /// The home session of a live family.
    package func familyBinding(_ familyID: String) async throws -> String? {
        guard let family = try await state.family(id: familyID), family.isLive else { return nil }
        return family.binding
    }

    /// Uses a refresh token: reads, decides, signs, and has the result written.
    ///
    /// - Parameters:
    ///   - clientID: where it is given, only a family of that client is served.
    ///   - commit: makes the write durable, together with what else the caller has to check or write, and tells what came
    ///     of it. It may be asked more than once, when others refresh at the same moment.
    package func refresh(
        _ refreshToken: String, clientID: String? = nil, commit: (RefreshWrite) async throws -> RefreshWritten
    ) async throws -> RefreshOutcome {
        try await families.refresh(refreshToken, clientID: clientID, commit: commit)
    }

    /// The family that a refresh token belongs or ever belonged to, live or not: enough to log out.
    package func family(ofRefreshToken text: String) async throws -> FamilyRecord? {
        guard let token = RefreshToken(text) else { return nil }
        return try await state.family(tokenHash: token.hash)?.family
    }

    /// How a family ends now; see ``FamilyEnd/end(_:in:)``.
    package func familyEnd() -> FamilyEnd { families.end() }

    /// Remembers a family's end, which is durable, and tells the audit log.
    package func report(endOfFamily familyID: String, _ end: FamilyEnd, reason: String = "logout") {
        families.report(endOf: familyID, end, reason: reason)
    }
}
