import Encodings
import JOSE
import StateSurface

/// Judges access tokens made here: parse, key, signature, rules, then the shape of every claim that is used.
struct TokenVerifier: Sendable {
    /// Longer ones are refused before anything is decoded.
    static let maximumBytes = 8192

    let policy: TokenPolicy
    let keys: KeyRingHolder
    private let rules: ClaimsRules
    private let headers = HeaderMemo()
    private let reach: FleetReach

    init(policy: TokenPolicy, keys: KeyRingHolder, reach: FleetReach) {
        self.policy = policy
        self.keys = keys
        self.reach = reach
        rules = ClaimsRules(
            issuer: policy.issuer, audience: policy.audience,
            types: [TokenType.accessToken, TokenType.accessTokenMediaType],
            requiredClaims: [
                ClaimName.issuer, ClaimName.expiresAt, ClaimName.audience, ClaimName.subject, ClaimName.clientID,
                ClaimName.issuedAt, ClaimName.tokenID, ClaimName.tenantID,
            ],
            leeway: Double(policy.clockSkew) / 1000)
    }

    /// A token lives no longer than some node makes them, and its times are whole seconds.
    private var currentRules: ClaimsRules {
        var rules = rules
        rules.maximumLifetime = (Double(reach.reach.lifetime) / 1000).rounded(.up)
        return rules
    }

    enum Verdict {
        case good(Principal)
        /// Everything else is good.
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
            // `expired` is said only when nothing else is wrong: the claims are proved.
            guard let claims = try? token.unverifiedClaims(), let principal = principal(claims, key) else {
                return .refused(.invalid("claims_malformed"))
            }
            return .expired(principal)
        case .failure(let refusal):
            return .refused(.invalid(refusal.reason.rawValue))
        }
    }

    /// `kid` is a name in a table and nothing else. Without one the key must be the only one.
    private func key(for token: UnverifiedToken) -> VerificationKey? {
        let ring = keys.ring
        if let keyID = token.header.keyID { return ring.key(id: keyID) }
        return ring.verificationKeys.count == 1 ? ring.verificationKeys.first : nil
    }

    private func principal(_ claims: Claims, _ key: VerificationKey) -> Principal? {
        guard let tenantID = claims[ClaimName.tenantID]?.stringValue, NameRule.isToken(tenantID),
            let subject = claims.subject, NameRule.isSubject(subject),
            let clientID = claims[ClaimName.clientID]?.stringValue, NameRule.isToken(clientID),
            let tokenID = claims.tokenID, NameRule.isToken(tokenID),
            let issuedAt = claims.issuedAt.flatMap(Self.milliseconds),
            let expiresAt = claims.expiresAt.flatMap(Self.milliseconds),
            let scope = Self.scope(claims[ClaimName.scope]),
            let familyID = Self.family(claims[ClaimName.familyID])
        else { return nil }
        return Principal(
            tenantID: tenantID, subject: subject, clientID: clientID, scope: scope, tokenID: tokenID,
            familyID: familyID.isEmpty ? nil : familyID, issuedAt: issuedAt, expiresAt: expiresAt,
            keyThumbprint: key.thumbprint)
    }

    private static func scope(_ value: JSONValue?) -> [String]? {
        guard let value else { return [] }
        return value.stringValue.flatMap(Scope.parse)
    }

    /// Empty when there is none, nil when it is not a family's name.
    private static func family(_ value: JSONValue?) -> String? {
        guard let value else { return "" }
        return value.stringValue.flatMap { NameRule.isToken($0) ? $0 : nil }
    }

    private static func milliseconds(_ seconds: Double) -> Int64? {
        Int64(exactly: (seconds * 1000).rounded(.down))
    }
}
