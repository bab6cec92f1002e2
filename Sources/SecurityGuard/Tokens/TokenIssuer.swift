import Encodings
import JOSE

/// Issues access tokens (RFC 9068), signed with the active key.
struct TokenIssuer: Sendable {
    let policy: TokenPolicy
    let keys: KeyRingHolder

    struct Request {
        var tenantID: String
        var subject: String
        var clientID: String
        var scope: [String]
        var familyID: String
        /// The latest expiry of the token, in Unix milliseconds.
        var notAfter: Int64?
    }

    /// - Parameter now: the time of the decision to issue. If the family ends later, this token is revoked too.
    func issue(_ request: Request, now: Int64) throws -> (text: String, principal: Principal) {
        let issuedAt = now / 1000
        // In whole seconds, rounded down, but at least one.
        let end = min((now + policy.accessTokenLifetime) / 1000, (request.notAfter ?? .max) / 1000)
        let expiresAt = max(end, issuedAt + 1)
        let tokenID = RandomID.make()
        let claims: JSONObject = [
            ClaimName.issuer: .string(policy.issuer),
            ClaimName.subject: .string(request.subject),
            ClaimName.audience: audience,
            ClaimName.expiresAt: .integer(expiresAt),
            ClaimName.notBefore: .integer(issuedAt),
            ClaimName.issuedAt: .integer(issuedAt),
            ClaimName.tokenID: .string(tokenID),
            ClaimName.clientID: .string(request.clientID),
            ClaimName.tenantID: .string(request.tenantID),
            ClaimName.scope: .string(Scope.text(request.scope)),
            ClaimName.familyID: .string(request.familyID),
        ]
        let key = keys.ring.signingKey
        let text = try key.sign(claims: claims, type: TokenType.accessToken)
        let principal = Principal(
            tenantID: request.tenantID, subject: request.subject, clientID: request.clientID, scope: request.scope,
            tokenID: tokenID, familyID: request.familyID, issuedAt: issuedAt * 1000, expiresAt: expiresAt * 1000,
            keyThumbprint: key.verificationKey.thumbprint)
        return (text, principal)
    }

    private var audience: JSONValue {
        policy.audience.count == 1 ? .string(policy.audience[0]) : .array(policy.audience.map(JSONValue.string))
    }
}

/// An access token, with its refresh token if there is one.
package struct IssuedTokens: Sendable {
    /// The access token.
    package let accessToken: String
    /// The lifetime of the access token in seconds.
    package let expiresIn: Int64
    /// The refresh token; nil if the grant gives none.
    package let refreshToken: String?
    /// The refresh family.
    package let familyID: String
    /// The principal of the access token.
    package let principal: Principal
}
