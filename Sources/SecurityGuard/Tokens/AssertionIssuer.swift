import Encodings
import JOSE

/// Signs the short-lived JWT that proves to an upstream that a request came through the gateway.
struct AssertionIssuer: Sendable {
    static let lifetime: Int64 = 60

    let issuer: String
    let keys: KeyRingHolder

    /// - Parameters:
    ///   - principal: the caller; nil if there is no token.
    ///   - owner: the owner of the session, for a caller with a session secret and no token.
    ///   - sessionID: the session id, only for a Runtime.
    func sign(
        audience: String, principal: Principal?, owner: (tenantID: String?, userID: String?), sessionID: String?,
        now: Int64
    ) throws -> String {
        let issuedAt = now / 1000
        var claims: JSONObject = [
            ClaimName.issuer: .string(issuer),
            ClaimName.audience: .string(audience),
            ClaimName.issuedAt: .integer(issuedAt),
            ClaimName.expiresAt: .integer(issuedAt + Self.lifetime),
            ClaimName.tokenID: .string(RandomID.make()),
        ]
        if let principal {
            claims[ClaimName.subject] = .string(principal.subject)
            claims[ClaimName.tenantID] = .string(principal.tenantID)
            claims[ClaimName.clientID] = .string(principal.clientID)
            claims[ClaimName.scope] = .string(Scope.text(principal.scope))
        } else if let tenantID = owner.tenantID, let userID = owner.userID {
            claims[ClaimName.subject] = .string(userID)
            claims[ClaimName.tenantID] = .string(tenantID)
        }
        if let sessionID { claims[ClaimName.session] = .string(sessionID) }
        return try keys.ring.signingKey.sign(claims: claims, type: TokenType.assertion)
    }
}
