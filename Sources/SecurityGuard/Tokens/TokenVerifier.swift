import Encodings
import JOSE
import OAuth
import StateSurface

/// Verifies the gateway's access tokens: parsing, key, signature, rules, and then the form of every claim that is used.
struct TokenVerifier: Sendable {
    /// The longest token in bytes. Longer ones are refused before they are decoded.
    static let maximumBytes = 8192

    let policy: TokenPolicy
    let keys: KeyRingHolder
    private let rules: ClaimsRules
    private let headers = HeaderMemo()
    private let reach: FleetReach

    private let resources: ResourceNames

    init(policy: TokenPolicy, keys: KeyRingHolder, reach: FleetReach, resources: ResourceNames) {
        self.policy = policy
        self.keys = keys
        self.reach = reach
        self.resources = resources
        rules = ClaimsRules(
            issuer: policy.issuer, audience: policy.audience,
            types: [TokenType.accessToken, TokenType.accessTokenMediaType],
            requiredClaims: [
                ClaimName.issuer, ClaimName.expiresAt, ClaimName.audience, ClaimName.subject, ClaimName.clientID,
                ClaimName.issuedAt, ClaimName.tokenID, ClaimName.tenantID,
            ],
            leeway: Double(policy.clockSkew) / 1000)
    }

    /// The rules with the current limit on the lifetime, which is that of the tokens of any node, and with the current
    /// resources.
    private var currentRules: ClaimsRules {
        var rules = rules
        rules.audience += resources.all
        rules.maximumLifetime = (Double(reach.reach.lifetime) / 1000).rounded(.up)
        return rules
    }

    enum Verdict {
        case good(Principal)
        /// The token has expired, and everything else is in order.
        case expired(Principal)
        case refused(TokenFault)
    }

    func judge(_ text: some Collection<UInt8>, now: Int64) -> Verdict {
        guard text.count <= Self.maximumBytes else { return .refused(.invalid("too_large")) }
        let token: UnverifiedToken
        do throws(TokenRefusal) {
            token = try UnverifiedToken(text, headers: headers)
        } catch {
            return .refused(.invalid(error.reason.rawValue))
        }
        guard let key = key(for: token) else { return .refused(.invalid("key_unknown")) }
        switch token.verify(with: key, rules: currentRules, now: Double(now) / 1000) {
        case .success(let verified):
            return principal(verified.claims, key).map(Verdict.good) ?? .refused(.invalid("claims_malformed"))
        case .failure(let refusal) where refusal.reason == .expired:
            // `expired` is the reason only if everything else has been verified, so the claims can be used.
            guard let claims = try? token.unverifiedClaims(), let principal = principal(claims, key) else {
                return .refused(.invalid("claims_malformed"))
            }
            return .expired(principal)
        case .failure(let refusal):
            return .refused(.invalid(refusal.reason.rawValue))
        }
    }

    /// The key with the token's `kid`. Without a `kid`, there must be only one key.
    private func key(for token: UnverifiedToken) -> VerificationKey? {
        let ring = keys.ring
        if let keyID = token.header.keyID { return ring.key(id: keyID) }
        return ring.verificationKeys.count == 1 ? ring.verificationKeys.first : nil
    }

    private func principal(_ claims: Claims, _ key: VerificationKey) -> Principal? {
        guard let tenantID = claims[ClaimName.tenantID]?.stringValue, NameRule.isVisible(tenantID),
            let subject = claims.subject, NameRule.isSubject(subject),
            let clientID = claims[ClaimName.clientID]?.stringValue, NameRule.isClientID(clientID),
            let tokenID = claims.tokenID, NameRule.isVisible(tokenID),
            let issuedAt = claims.issuedAt.flatMap(Self.milliseconds),
            let expiresAt = claims.expiresAt.flatMap(Self.milliseconds),
            let scope = Self.scope(claims[ClaimName.scope]),
            let familyID = Self.family(claims[ClaimName.familyID]),
            let signIn = Self.signIn(claims)
        else { return nil }
        return Principal(
            tenantID: tenantID, subject: subject, clientID: clientID, scope: scope, tokenID: tokenID,
            familyID: familyID.isEmpty ? nil : familyID, issuedAt: issuedAt, expiresAt: expiresAt,
            authenticatedAt: signIn.time, acr: signIn.acr, keyThumbprint: key.thumbprint,
            resource: resource(claims.audience ?? []))
    }

    /// The resource of a token that is for one of them and not for the gateway's own audience.
    private func resource(_ audience: [String]) -> String? {
        let names = resources.all
        if names.isEmpty || audience.contains(where: { Scope.contains(policy.audience, $0) }) { return nil }
        return audience.first { Scope.contains(names, $0) }
    }

    /// `auth_time` in milliseconds and `acr`, where the token says them; nil if one is malformed.
    static func signIn(_ claims: Claims) -> (time: Int64?, acr: String?)? {
        var (time, acr): (Int64?, String?) = (nil, nil)
        if let value = claims[ClaimName.authenticatedAt] {
            guard let seconds = value.doubleValue, let found = milliseconds(seconds), found >= 0 else { return nil }
            time = found
        }
        if let value = claims[ClaimName.contextClass] {
            guard let found = value.stringValue, NameRule.isVisible(found) else { return nil }
            acr = found
        }
        return (time, acr)
    }

    private static func scope(_ value: JSONValue?) -> [String]? {
        guard let value else { return [] }
        return value.stringValue.flatMap(Scope.parse)
    }

    /// The family id: empty if there is none, nil if it is malformed.
    private static func family(_ value: JSONValue?) -> String? {
        guard let value else { return "" }
        return value.stringValue.flatMap { NameRule.isVisible($0) ? $0 : nil }
    }

    /// A time of a claim in milliseconds; nil if there is none, or no such time.
    static func milliseconds(_ seconds: Double?) -> Int64? {
        seconds.flatMap { Int64(exactly: ($0 * 1000).rounded(.down)) }
    }
}
