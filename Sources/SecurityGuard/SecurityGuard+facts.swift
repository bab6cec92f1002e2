import Encodings
import JOSE
import OAuth

/// The data of a token that is stored with a ticket. It identifies the principal, and cannot be used as the token.
extension SecurityGuard {
    /// The data to store for a principal, as JSON.
    package func facts(of principal: Principal) -> [UInt8] {
        var facts: JSONObject = [
            ClaimName.tenantID: .string(principal.tenantID), ClaimName.subject: .string(principal.subject),
            ClaimName.clientID: .string(principal.clientID), ClaimName.scope: .string(Scope.text(principal.scope)),
            ClaimName.tokenID: .string(principal.tokenID), ClaimName.issuedAt: .integer(principal.issuedAt),
            ClaimName.expiresAt: .integer(principal.expiresAt), Self.keyMember: .string(principal.keyThumbprint),
        ]
        if let familyID = principal.familyID { facts[ClaimName.familyID] = .string(familyID) }
        if let time = principal.authenticatedAt { facts[ClaimName.authenticatedAt] = .integer(time) }
        if let acr = principal.acr { facts[ClaimName.contextClass] = .string(acr) }
        return JSONValue.object(facts).serializedBytes()
    }

    /// The principal of stored data, if its token would still be accepted.
    package func principal(fromFacts bytes: [UInt8]) -> Result<Principal, TokenFault> {
        guard let facts = try? StrictJSON.object(bytes), let principal = Self.principal(facts) else {
            return .failure(.invalid("facts_malformed"))
        }
        let now = clock()
        if isRevoked(principal) { return .failure(.invalid("revoked")) }
        guard keys.ring.verifies(thumbprint: principal.keyThumbprint) else { return .failure(.invalid("key_unknown")) }
        guard principal.isCurrent(at: now, skew: policy.clockSkew) else {
            return .failure(TokenFault(.tokenExpired, reason: "expired"))
        }
        return .success(principal)
    }

    private static let keyMember = "key"

    private static func principal(_ facts: JSONObject) -> Principal? {
        guard let tenantID = facts[ClaimName.tenantID]?.stringValue,
            let subject = facts[ClaimName.subject]?.stringValue, let clientID = facts[ClaimName.clientID]?.stringValue,
            let scope = facts[ClaimName.scope]?.stringValue.flatMap(Scope.parse),
            let tokenID = facts[ClaimName.tokenID]?.stringValue, let issuedAt = facts[ClaimName.issuedAt]?.int64Value,
            let expiresAt = facts[ClaimName.expiresAt]?.int64Value, let key = facts[keyMember]?.stringValue
        else { return nil }
        return Principal(
            tenantID: tenantID, subject: subject, clientID: clientID, scope: scope, tokenID: tokenID,
            familyID: facts[ClaimName.familyID]?.stringValue, issuedAt: issuedAt, expiresAt: expiresAt,
            authenticatedAt: facts[ClaimName.authenticatedAt]?.int64Value,
            acr: facts[ClaimName.contextClass]?.stringValue, keyThumbprint: key)
    }
}
