import Encodings
import JOSE

/// Verifies one token for `token verify`, without files, clock or output.
struct TokenJudgement {
    /// A token that was verified.
    struct Verified {
        let header: JSONObject
        let algorithm: String
        /// The `kid` of the key, which a token need not name.
        let keyID: String
        /// The claims; nil if only the signature was verified.
        let claims: JSONObject?
    }

    /// For tokens whose algorithm is not in ``byAlgorithm``.
    let keys: TokenKeys
    /// The same keys, bound to the algorithm that the token names.
    var byAlgorithm: [SignatureAlgorithm: TokenKeys] = [:]
    /// The required `iss`; nil for any, or none.
    var issuer: String?
    /// A value that `aud` must have; nil for any, or none.
    var audience: String?
    /// The required `typ`; nil for any, or none.
    var type: String?
    /// Whether claims are left alone, their times among them: the payload need not be JSON.
    var signatureOnly = false

    /// Verifies a token, or throws why it is refused. `now` is in seconds since 1970.
    func verify(_ token: UnverifiedToken, now: Double) throws(TokenRefusal) -> Verified {
        let key = try key(for: token.header)
        guard !signatureOnly else {
            let payload = try token.verifySignature(with: key).get()
            try checkType(payload.header)
            return Verified(
                header: payload.header.all, algorithm: key.algorithm.rawValue, keyID: payload.keyID, claims: nil)
        }
        let rules = ClaimsRules(
            issuer: issuer, audience: audience.map { [$0] } ?? [], types: type.map { [$0] } ?? [])
        let verified = try token.verify(with: key, rules: rules, now: now).get()
        return Verified(
            header: verified.header.all, algorithm: key.algorithm.rawValue, keyID: verified.keyID,
            claims: verified.claims.members)
    }

    /// The key that has to verify the token.
    private func key(for header: ProtectedHeader) throws(TokenRefusal) -> VerificationKey {
        let named = SignatureAlgorithm(name: header.algorithm).flatMap { byAlgorithm[$0] }
        switch named ?? keys {
        case .one(let key): return key
        case .set(let set): return try set.key(for: header).get()
        }
    }

    /// The `typ` that was asked for, with or without `application/` (RFC 7515 section 4.1.9).
    private func checkType(_ header: ProtectedHeader) throws(TokenRefusal) {
        guard let type else { return }
        let short: (String) -> String = { text in
            let lowered = text.lowercased()
            return lowered.hasPrefix("application/") ? String(lowered.dropFirst("application/".count)) : lowered
        }
        guard let given = header.type, short(given).utf8.elementsEqual(short(type).utf8) else {
            throw TokenRefusal(.typeMismatch, "typ is not the wanted one")
        }
    }
}
