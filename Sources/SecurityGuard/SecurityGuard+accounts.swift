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
    /// Begins a family for someone whose password was just proved: for the account as it was judged, and no other.
    package func openFamily(
        for account: AccountRecord, clientID: String = firstPartyClientID, binding: String? = nil
    ) async throws -> IssuedTokens {
        let tokens = try await families.open(account, clientID: clientID, binding: binding)
        audit(
            AuditEvent(
                .loginSucceeded, tenantID: account.tenantID, subject: account.userID, clientID: clientID,
                familyID: tokens.familyID))
        return tokens
    }

    /// Fills in the family's opaque binding.
    package func bind(familyID: String, to binding: String) async throws {
        try await state.bind(familyID: familyID, to: binding)
    }

    /// Ends the families that were at home in a session before it got a new one. Repeating a login repeats this.
    /// - Returns: the sessions that ended.
    package func endFamilies(
        of userID: String, atHomeIn binding: String, except familyID: String
    ) async throws -> [String] {
        var ended: [String] = []
        for family in try await state.liveFamilies(userID: userID) {
            guard let home = family.binding, sameBytes(home, binding), !sameBytes(family.id, familyID) else { continue }
            ended += try await endFamily(family.id, reason: "resumed")
        }
        return ended
    }

    /// The binding of a live family.
    package func familyBinding(_ familyID: String) async throws -> String? {
        guard let family = try await state.family(id: familyID), family.isLive else { return nil }
        return family.binding
    }

    /// Uses a refresh token. With a `clientID`, only a family of that client is served.
    package func refresh(_ refreshToken: String, clientID: String? = nil) async throws -> RefreshOutcome {
        try await families.refresh(refreshToken, clientID: clientID)
    }

    /// The family that a refresh token belongs or ever belonged to, live or not: enough to log out.
    package func family(ofRefreshToken text: String) async throws -> FamilyRecord? {
        guard let token = RefreshToken(text) else { return nil }
        return try await state.family(tokenHash: token.hash)?.family
    }

    /// Ends a family, its access tokens and its sessions. Harmless when it has ended before.
    /// - Returns: the sessions that ended.
    package func endFamily(_ familyID: String, reason: String = "logout") async throws -> [String] {
        try await families.end(familyID, reason: reason)
    }
}
