import Encodings
import JOSE

/// Signs the short-lived JWT that proves to an upstream that a request came through the gateway.
struct AssertionIssuer: Sendable {
    static let lifetime: Int64 = 60

    let issuer: String
    let keys: KeyRingHolder

    /// - Parameter now: in ms since the epoch.
    func sign(_ identity: AssertedIdentity, audience: String, now: Int64) throws -> String {
        let issuedAt = now / 1000
        var claims: JSONObject = [
            ClaimName.issuer: .string(issuer),
            ClaimName.audience: .string(audience),
            ClaimName.issuedAt: .integer(issuedAt),
            ClaimName.expiresAt: .integer(issuedAt + Self.lifetime),
            ClaimName.tokenID: .string(RandomID.make()),
        ]
        for claim in identity.claims { claims[claim.name] = claim.value }
        return try keys.ring.signingKey.sign(claims: claims, type: TokenType.assertion)
    }
}
