import AuthorizationServer
import Encodings
import SecurityGuard
import StateSurface

extension AgentAccess {
    /// Exchanges an authorization code for tokens, once. A second use ends the family.
    /// - Throws: `OAuthFault`; the store's errors.
    package func redeem(_ exchange: CodeExchange) async throws -> IssuedTokens {
        let now = clock()
        guard let hash = AuthorizationCode.hash(exchange.code),
            let record = try await store.singleUse(kind: AuthorizationCode.kind, hash: hash, now: now),
            let code = AuthorizationCode(stored: record.payload),
            let family = try await store.family(id: code.familyID), family.isLive
        else { throw AuthorizationCode.refused("code_unknown") }
        if family.counter != 0 {
            // Only its own client, or a thief of the code, can cause this.
            guard exchange.clientID.hasSameBytes(as: code.clientID) else {
                throw AuthorizationCode.refused("code_foreign_client")
            }
            try await endReused(family.id)
            throw AuthorizationCode.refused("code_reused")
        }
        guard now < family.absoluteExpiresAt else { throw AuthorizationCode.refused("code_expired") }
        try code.check(
            clientID: exchange.clientID, redirectURI: exchange.redirectURI, verifier: exchange.verifier,
            resource: exchange.resource)
        guard let account = try await securityGuard.account(userID: family.userID), !account.disabled else {
            throw AuthorizationCode.refused("account_unusable")
        }
        let (next, tokens) = try await securityGuard.redeemed(family, of: account)
        guard try await store.rotate(family: next) else {
            // A concurrent use was faster, or the family has ended.
            if try await store.family(id: family.id)?.isLive == true { try await endReused(family.id) }
            throw AuthorizationCode.refused("code_reused")
        }
        securityGuard.report(opened: next, reason: "authorization_code")
        return tokens
    }

    private func endReused(_ familyID: String) async throws {
        let end = securityGuard.familyEnd()
        _ = try await store.transaction { try end.end(familyID, in: $0) }
        securityGuard.report(endOfFamily: familyID, end, reason: "code_reused")
    }
}
