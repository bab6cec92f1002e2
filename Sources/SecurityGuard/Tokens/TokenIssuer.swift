import Encodings
import JOSE
import OAuth
import StateSurface

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
        /// The resource that it is for; nil for the gateway's own audience.
        var resource: String?
        /// How the subject signed in; nil if it did not.
        var signIn: SignInFacts?
        /// The account, for the claims of ``TokenPolicy/claims``; nil for clients.
        var profile: CallerProfile?
    }

    /// - Parameter now: the time of the decision to issue. If the family ends later, this token is revoked too.
    func issue(_ request: Request, now: Int64) throws -> (text: String, principal: Principal) {
        let issuedAt = now / 1000
        // In whole seconds, rounded down, but at least one.
        let end = min((now + policy.accessTokenLifetime) / 1000, (request.notAfter ?? .max) / 1000)
        let expiresAt = max(end, issuedAt + 1)
        let tokenID = RandomID.make()
        var claims: JSONObject = [
            ClaimName.issuer: .string(policy.issuer),
            ClaimName.subject: .string(request.subject),
            ClaimName.audience: request.resource.map(JSONValue.string) ?? audience,
            ClaimName.expiresAt: .integer(expiresAt),
            ClaimName.notBefore: .integer(issuedAt),
            ClaimName.issuedAt: .integer(issuedAt),
            ClaimName.tokenID: .string(tokenID),
            ClaimName.clientID: .string(request.clientID),
            ClaimName.tenantID: .string(request.tenantID),
            ClaimName.scope: .string(Scope.text(request.scope)),
            ClaimName.familyID: .string(request.familyID),
        ]
        // A provider may say anything as `acr`; what is no plain name is left out.
        let acr = request.signIn?.acr.flatMap { NameRule.isVisible($0) ? $0 : nil }
        let authenticatedAt = request.signIn.map { max(0, $0.authenticatedAt) / 1000 }
        if let authenticatedAt { claims[ClaimName.authenticatedAt] = .integer(authenticatedAt) }
        if let acr { claims[ClaimName.contextClass] = .string(acr) }
        let key = keys.ring.signingKey
        let text = try sign(claims, request.profile, with: key)
        let principal = Principal(
            tenantID: request.tenantID, subject: request.subject, clientID: request.clientID, scope: request.scope,
            tokenID: tokenID, familyID: request.familyID, issuedAt: issuedAt * 1000, expiresAt: expiresAt * 1000,
            authenticatedAt: authenticatedAt.map { $0 * 1000 }, acr: acr,
            keyThumbprint: key.verificationKey.thumbprint, resource: request.resource)
        return (text, principal)
    }

    /// The most bytes of a token with the groups of its account.
    static let profileLimit = 4096

    private func sign(_ claims: JSONObject, _ profile: CallerProfile?, with key: SigningKey) throws -> String {
        guard let profile else { return try key.sign(claims: claims, type: TokenType.accessToken) }
        var claims = claims
        if policy.claims.contains(.email), let email = profile.email { claims[ClaimName.email] = .string(email) }
        if policy.claims.contains(.name), let name = profile.name { claims[ClaimName.name] = .string(name) }
        guard policy.claims.contains(.groups), !profile.groups.isEmpty else {
            return try key.sign(claims: claims, type: TokenType.accessToken)
        }
        var complete = claims
        complete[ClaimName.groups] = .array(profile.groups.map(JSONValue.string))
        let text = try key.sign(claims: complete, type: TokenType.accessToken)
        guard text.utf8.count > Self.profileLimit else { return text }
        claims[ClaimName.groupsOmitted] = .bool(true)
        return try key.sign(claims: claims, type: TokenType.accessToken)
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
