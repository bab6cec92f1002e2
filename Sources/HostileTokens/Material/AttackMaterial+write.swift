import Encodings
import JOSE

extension AttackMaterial {
    // MARK: With the good token's parts

    /// Three texts with dots between them.
    static func joined(_ header: [UInt8], _ payload: [UInt8], _ signature: [UInt8]) -> [UInt8] {
        header + [UInt8(ascii: ".")] + payload + [UInt8(ascii: ".")] + signature
    }

    /// The good token with another signature.
    func token(signature: [UInt8]) -> [UInt8] {
        Self.joined(segments.header, segments.payload, Base64URL.encodeBytes(signature))
    }

    /// The good token with another text in the place of its signature.
    func token(signatureText: [UInt8]) -> [UInt8] {
        Self.joined(segments.header, segments.payload, signatureText)
    }

    /// The good header as JSON text, with members replaced by raw text, or taken out where that is nil.
    func headerText(_ changes: [(name: String, raw: String?)]) -> String {
        RawJSON.text(of: header, changes)
    }

    // MARK: Signed by an attacker

    /// The good payload, signed with a key the target should not know, under the good token's `typ`.
    func forged(with key: SigningKey, extraHeader: JSONObject = [:]) throws -> [UInt8] {
        Array(try key.sign(payload: payload, type: type, extraHeader: extraHeader).utf8)
    }

    /// A new key of the same kind as the target's; nil if the target's is none that a pair can be made of.
    func attackerKey(keyID: String?) throws -> SigningKey? {
        guard let algorithm, !algorithm.isSymmetric, algorithm.isAvailable else { return nil }
        return try AttackerKeys.key(algorithm, keyID: keyID)
    }

    /// The good payload under an HMAC; a short key is what it is filled up to (RFC 2104 §2).
    func forged(
        secret: [UInt8], _ algorithm: SignatureAlgorithm, keyID: String?, extraHeader: JSONObject = [:]
    ) throws -> [UInt8] {
        let block = algorithm == .hs256 ? 64 : 128
        let filled = secret + [UInt8](repeating: 0, count: max(0, block - secret.count))
        let key = try SigningKey(secret: filled, algorithm: algorithm, keyID: keyID)
        return try forged(with: key, extraHeader: extraHeader)
    }

    // MARK: Signed by the trusted signer

    /// The header of a token that the trusted signer would make, with changes as in `headerText`.
    func signedHeader(_ changes: [(name: String, raw: String?)] = []) throws -> String {
        let issuer = try trusted()
        var plain: JSONObject = ["alg": .string(issuer.algorithm.rawValue)]
        if let type { plain["typ"] = .string(type) }
        if let keyID = issuer.keyID { plain["kid"] = .string(keyID) }
        return RawJSON.text(of: plain, changes)
    }

    /// The good claims, dated anew, with changes as in `headerText`.
    func freshClaims(_ changes: [(name: String, raw: String?)] = []) -> String {
        var claims = claims
        claims["iat"] = .integer(freshIssuance)
        if claims["nbf"] != nil { claims["nbf"] = .integer(freshIssuance) }
        claims["exp"] = .integer(freshExpiry)
        return RawJSON.text(of: claims, changes)
    }

    private var freshIssuance: Int64 { now - 5 }

    /// Five minutes later, unless the target's own tokens live shorter: it may refuse what lives longer.
    var freshExpiry: Int64 {
        guard let issued = claims["iat"]?.int64Value, let expiry = goodTokenExpiry else { return freshIssuance + 300 }
        let (lifetime, overflow) = expiry.subtractingReportingOverflow(issued)
        return freshIssuance + (overflow ? 300 : min(max(lifetime, 0), 300))
    }

    /// A right signature over any header and payload.
    func signed(
        header: [UInt8]? = nil, payload: [UInt8]? = nil, as algorithm: SignatureAlgorithm? = nil
    ) throws -> [UInt8] {
        try signed(
            headerText: Base64URL.encodeBytes(try header ?? Array(signedHeader().utf8)),
            payloadText: Base64URL.encodeBytes(payload ?? Array(freshClaims().utf8)), as: algorithm)
    }

    /// A right signature over any two texts with a dot between them.
    func signed(
        headerText: [UInt8], payloadText: [UInt8], as algorithm: SignatureAlgorithm? = nil
    ) throws -> [UInt8] {
        let input = headerText + [UInt8(ascii: ".")] + payloadText
        let signature = try trusted().signature(over: input, as: algorithm)
        return input + [UInt8(ascii: ".")] + Base64URL.encodeBytes(signature)
    }

    /// A right signature over changed headers.
    func signed(headerChanges changes: [(name: String, raw: String?)]) throws -> [UInt8] {
        try signed(header: Array(signedHeader(changes).utf8))
    }

    /// A right signature over changed claims.
    func signed(claimChanges changes: [(name: String, raw: String?)]) throws -> [UInt8] {
        try signed(payload: Array(freshClaims(changes).utf8))
    }

    /// What the signed attacks are measured by: a token of the trusted signer with nothing wrong.
    public func signedControl() throws -> [UInt8] {
        try signed()
    }

    func trusted() throws(MaterialError) -> TestIssuer {
        guard let issuer else { throw MaterialError(.issuerMissing, "there is no signer that the target trusts") }
        return issuer
    }
}
