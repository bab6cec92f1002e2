import Encodings
import StateSurface

// MARK: Grants to clients
extension SecurityGuard {
    /// The family of an authorization code whose lifetime is `codeLifetime` milliseconds.
    package func grant(_ terms: GrantTerms, of account: AccountRecord, codeLifetime: Int64) -> FamilyRecord {
        families.grant(terms, of: account, codeLifetime: codeLifetime)
    }

    /// The family with its first refresh token, to be written with `rotate`, and the tokens. The access token has those
    /// of the granted scopes that the account still has.
    package func redeemed(
        _ family: FamilyRecord, of account: AccountRecord
    ) async throws -> (next: FamilyRecord, tokens: IssuedTokens) {
        try families.redeemed(family, of: account, scope: try await families.currentScope(of: family, account, nil))
    }

    /// Whether a token of the account for a resource may have this scope.
    package func mayHave(_ account: AccountRecord, scope: String) async throws -> Bool {
        try await families.mayHave(account, scope: scope)
    }

    /// Records in the audit log that a family was opened, once it is durable.
    package func report(opened family: FamilyRecord, reason: String) {
        families.report(.familyOpened, family, reason: reason)
    }
}

// MARK: Personal access tokens
extension SecurityGuard {
    /// The family of a personal access token: without a refresh token, and with the token's end.
    package func personalFamily(
        of account: AccountRecord, clientID: String, scope: [String], resource: String?, expiresAt: Int64
    ) -> FamilyRecord {
        FamilyRecord(
            id: FamilyID.make(accountVersion: account.version), tenantID: account.tenantID, userID: account.userID,
            clientID: clientID, scope: scope, binding: nil, createdAt: clock(), absoluteExpiresAt: expiresAt,
            currentHash: [], resource: resource)
    }

    /// The principal of a personal access token, from its record and family.
    package func principal(
        of token: PersonalTokenRecord, _ family: FamilyRecord
    ) -> Result<Principal, TokenFault> {
        let now = clock()
        guard family.isLive else { return .failure(.invalid("personal_token_ended")) }
        guard acceptsTokens(of: nil, for: family.resource) else { return .failure(.invalid("audience_mismatch")) }
        guard now < family.absoluteExpiresAt else { return .failure(TokenFault(.tokenExpired, reason: "expired")) }
        let principal = Principal(
            tenantID: family.tenantID, subject: family.userID, clientID: family.clientID, scope: family.scope,
            tokenID: token.id, familyID: family.id, issuedAt: family.createdAt,
            // The tolerance for other clocks does not apply: the store that issued it knows the end.
            expiresAt: family.absoluteExpiresAt &- policy.clockSkew, keyThumbprint: Self.personalKey,
            resource: family.resource)
        return isRevoked(principal) ? .failure(.invalid("revoked")) : .success(principal)
    }

    /// Stands for a key's thumbprint in principals whose token is not signed.
    private static let personalKey = "personal"
}
