import OAuth
import StateSurface

/// What a person grants to a client: a family for one resource, which gets its first refresh token when the
/// authorization code is used.
extension RefreshFamilies {
    /// The family of an authorization code. It has no refresh token yet, and ends with the code.
    func grant(
        _ terms: GrantTerms, of account: AccountRecord, codeLifetime: Int64
    ) -> FamilyRecord {
        let now = clock()
        return FamilyRecord(
            id: FamilyID.make(accountVersion: account.version), tenantID: account.tenantID, userID: account.userID,
            clientID: terms.clientID, scope: terms.scope, binding: terms.binding, createdAt: now,
            absoluteExpiresAt: now &+ codeLifetime, currentHash: [], signIn: terms.signIn, resource: terms.resource)
    }

    /// The same family with its first refresh token, and the tokens. Writing it with `rotate` succeeds once.
    /// - Parameter scope: that of the access token.
    func redeemed(
        _ family: FamilyRecord, of account: AccountRecord, scope: [String]
    ) throws -> (next: FamilyRecord, tokens: IssuedTokens) {
        let now = clock()
        let token = RefreshToken.random()
        var next = family
        next.currentHash = token.hash
        next.rotatedAt = now
        next.counter = 1
        next.absoluteExpiresAt = now &+ policy.refreshTokenLifetime
        let tokens = try tokens(of: next, account, scope: scope, refresh: token, now: now)
        next.tokenExpiresAt = tokens.principal.expiresAt
        next.tokenKey = tokens.principal.keyThumbprint
        return (next, tokens)
    }

    /// Whether a token of the account for a resource may have this scope: always, unless accounts are given it, by the
    /// operator or by `accounts.default_scope`. Then the account must have it.
    func mayHave(_ account: AccountRecord, scope: String) async throws -> Bool {
        if Scope.contains(account.scope, scope) { return true }
        if Scope.contains(policy.defaultScope, scope) { return false }
        return try await !state.accountsHave(scope: scope)
    }
}
