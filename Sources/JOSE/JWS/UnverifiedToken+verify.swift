import Encodings

extension UnverifiedToken {
    /// Verifies the token completely: extensions, algorithm, signature, then claims. `exp` is checked last, so
    /// ``TokenRefusal/Reason/expired`` means that everything else is in order.
    ///
    /// - Parameters:
    ///   - key: the key to verify with; its algorithm is the only one accepted.
    ///   - rules: the rules for the header's `typ` and the claims.
    ///   - now: seconds since 1970.
    public func verify(
        with key: VerificationKey, rules: ClaimsRules, now: Double
    ) -> Result<VerifiedToken, TokenRefusal> {
        if let refusal = signatureRefusal(key) { return .failure(refusal) }
        do throws(TokenRefusal) {
            let claims = try unverifiedClaims()
            if let refusal = rules.refusal(of: header, claims, now: now) { return .failure(refusal) }
            return .success(VerifiedToken(header: header, claims: claims, keyID: key.keyID))
        } catch {
            return .failure(error)
        }
    }

    /// Verifies the token completely with the key from the set, as ``JWKSet/key(for:)`` chooses it.
    ///
    /// - Parameters:
    ///   - keys: the keys of the issuer, and of no other: every key in the set is trusted for every claim.
    ///   - rules: the rules for the header's `typ` and the claims.
    ///   - now: seconds since 1970.
    public func verify(
        with keys: JWKSet, rules: ClaimsRules, now: Double
    ) -> Result<VerifiedToken, TokenRefusal> {
        keys.key(for: header).flatMap { verify(with: $0, rules: rules, now: now) }
    }

    /// Verifies the signature only. The payload may be any bytes, also none; it is not read.
    ///
    /// For data that is no JWT. It says neither for whom a token is nor until when, so it does not prove who calls.
    public func verifySignature(with key: VerificationKey) -> Result<VerifiedPayload, TokenRefusal> {
        if let refusal = signatureRefusal(key) { return .failure(refusal) }
        return .success(VerifiedPayload(header: header, payload: unverifiedPayload, keyID: key.keyID))
    }

    /// Verifies the signature only, with the key from the set.
    public func verifySignature(with keys: JWKSet) -> Result<VerifiedPayload, TokenRefusal> {
        keys.key(for: header).flatMap { verifySignature(with: $0) }
    }

    /// Verifies the signature of a token with an empty payload whose actual payload was sent separately (RFC 7515
    /// appendix F).
    public func verifySignature(
        with key: VerificationKey, detachedPayload payload: [UInt8]
    ) -> Result<VerifiedPayload, TokenRefusal> {
        guard signatureStart == 0 else {
            return .failure(TokenRefusal(.malformed, "a payload in the token and another beside it"))
        }
        if let refusal = headerRefusal(key) { return .failure(refusal) }
        let input = Array(bytes[..<payloadStart]) + Base64URL.encodeBytes(payload)
        guard isSigned(by: key, input, count: input.count) else { return .failure(Self.badSignature) }
        return .success(VerifiedPayload(header: header, payload: payload, keyID: key.keyID))
    }

    // MARK: Steps

    private func signatureRefusal(_ key: VerificationKey) -> TokenRefusal? {
        if let refusal = headerRefusal(key) { return refusal }
        // The signing input is the prefix of the token as received. It is not encoded again from what was decoded.
        return isSigned(by: key, bytes, count: signingInputCount) ? nil : Self.badSignature
    }

    /// Whether the signature is valid for the first `count` bytes of `input`.
    private func isSigned(by key: VerificationKey, _ input: [UInt8], count: Int) -> Bool {
        decoded.withUnsafeBufferPointer { decoded in
            input.withUnsafeBufferPointer { input in
                key.isValid(
                    UnsafeBufferPointer(rebasing: decoded[signatureStart...]),
                    for: UnsafeBufferPointer(rebasing: input[..<count]))
            }
        }
    }

    /// The refusal of the header, if any: it demands an extension, or its `alg` is not that of the key.
    private func headerRefusal(_ key: VerificationKey) -> TokenRefusal? {
        if header.demandsExtension {
            return TokenRefusal(.criticalHeader, "the header demands an extension (crit, b64), and none is known here")
        }
        guard header.algorithm.hasSameBytes(as: key.algorithm.rawValue) else {
            guard SignatureAlgorithm(name: header.algorithm) != nil else {
                return TokenRefusal(.algorithmNotAllowed, "an alg that does not exist here")
            }
            return TokenRefusal(.algorithmMismatch, "the alg is not the key's, which is \(key.algorithm.rawValue)")
        }
        return nil
    }

    private static let badSignature = TokenRefusal(.signatureInvalid, "the signature is not the key's")
}

/// A payload whose signature was verified. Its content was not checked.
public struct VerifiedPayload: Sendable {
    /// The header.
    public let header: ProtectedHeader
    /// The payload.
    public let payload: [UInt8]
    /// The `kid` of the key that verified it.
    public let keyID: String

    init(header: ProtectedHeader, payload: [UInt8], keyID: String) {
        self.header = header
        self.payload = payload
        self.keyID = keyID
    }
}
