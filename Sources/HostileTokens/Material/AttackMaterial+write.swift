import Encodings
import JOSE

extension AttackMaterial {
    // MARK: With parts of the valid token

    /// Three texts with dots between them.
    static func joined(_ header: [UInt8], _ payload: [UInt8], _ signature: [UInt8]) -> [UInt8] {
        header + [UInt8(ascii: ".")] + payload + [UInt8(ascii: ".")] + signature
    }

    /// The valid token with another signature.
    func token(signature: [UInt8]) -> [UInt8] {
        Self.joined(segments.header, segments.payload, Base64URL.encodeBytes(signature))
    }

    /// The valid token with another text in place of its signature.
    func token(signatureText: [UInt8]) -> [UInt8] {
        Self.joined(segments.header, segments.payload, signatureText)
    }

    /// The valid token's header as JSON text, with members replaced by raw text, or removed for nil.
    func headerText(_ changes: [(name: String, raw: String?)]) -> String {
        RawJSON.text(of: header, changes)
    }

    // MARK: Signed by an attacker

    /// The valid token's payload and `typ`, signed with a key that the target should not trust.
    ///
    /// The verification key of it is nowhere in the target's key set.
    func forged(with key: SigningKey, extraHeader: JSONObject = [:]) throws -> [UInt8] {
        Array(try key.sign(payload: payload, type: type, extraHeader: extraHeader).utf8)
    }

    /// A key of the attacker for the same algorithm; nil if the algorithm is symmetric or unknown.
    func attackerKey(keyID: String?) throws -> SigningKey? {
        guard let algorithm, !algorithm.isSymmetric, algorithm.isAvailable else { return nil }
        return try AttackerKeys.key(algorithm, keyID: keyID)
    }

    /// The valid token's payload under an HMAC. A short key is padded with zeros, which gives the same HMAC (RFC 2104
    /// section 2).
    func forged(
        secret: [UInt8], _ algorithm: SignatureAlgorithm, keyID: String?, extraHeader: JSONObject = [:]
    ) throws -> [UInt8] {
        let block = algorithm == .hs256 ? 64 : 128
        let filled = secret + [UInt8](repeating: 0, count: max(0, block - secret.count))
        let key = try SigningKey(secret: filled, algorithm: algorithm, keyID: keyID)
        return try forged(with: key, extraHeader: extraHeader)
    }

    // MARK: Signed by the trusted signer

    /// The header of a token of the trusted signer, with changes as in ``headerText(_:)``.
    func signedHeader(_ changes: [(name: String, raw: String?)] = []) throws -> String {
        let issuer = try trusted()
        var plain: JSONObject = ["alg": .string(issuer.algorithm.rawValue)]
        if let type { plain["typ"] = .string(type) }
        if let keyID = issuer.keyID { plain["kid"] = .string(keyID) }
        return RawJSON.text(of: plain, changes)
    }

    /// The valid token's claims with new dates, and with changes as in ``headerText(_:)``.
    func freshClaims(_ changes: [(name: String, raw: String?)] = []) -> String {
        var claims = claims
        claims["iat"] = .integer(freshIssuance)
        if claims["nbf"] != nil { claims["nbf"] = .integer(freshIssuance) }
        claims["exp"] = .integer(freshExpiry)
        return RawJSON.text(of: claims, changes)
    }

    private var freshIssuance: Int64 { now - 5 }

    /// Five minutes after ``freshIssuance``, or less if the target's own tokens live shorter, because it may refuse
    /// longer lifetimes.
    var freshExpiry: Int64 {
        guard let issued = claims["iat"]?.int64Value, let expiry = goodTokenExpiry else { return freshIssuance + 300 }
        let (lifetime, overflow) = expiry.subtractingReportingOverflow(issued)
        return freshIssuance + (overflow ? 300 : min(max(lifetime, 0), 300))
    }

    /// A token with a valid signature over any header and payload.
    ///
    /// - Parameters:
    ///   - header: the JSON of the header, or any bytes in its place; nil for ``signedHeader(_:)``.
    ///   - payload: any bytes; nil for ``freshClaims(_:)``.
    ///   - algorithm: another algorithm of the same key; nil for its own. The header is not changed by it.
    /// - Throws: ``MaterialError/Code/issuerMissing``, or what the signer throws.
    func signed(
        header: [UInt8]? = nil, payload: [UInt8]? = nil, as algorithm: SignatureAlgorithm? = nil
    ) throws -> [UInt8] {
        try signed(
            headerText: Base64URL.encodeBytes(try header ?? Array(signedHeader().utf8)),
            payloadText: Base64URL.encodeBytes(payload ?? Array(freshClaims().utf8)), as: algorithm)
    }

    /// A token with a valid signature over any two texts, joined by a dot.
    func signed(
        headerText: [UInt8], payloadText: [UInt8], as algorithm: SignatureAlgorithm? = nil
    ) throws -> [UInt8] {
        let input = headerText + [UInt8(ascii: ".")] + payloadText
        let signature = try trusted().signature(over: input, as: algorithm)
        return input + [UInt8(ascii: ".")] + Base64URL.encodeBytes(signature)
    }

    /// A token with a valid signature and a changed header.
    func signed(headerChanges changes: [(name: String, raw: String?)]) throws -> [UInt8] {
        try signed(header: Array(signedHeader(changes).utf8))
    }

    /// A token with a valid signature and changed claims.
    func signed(claimChanges changes: [(name: String, raw: String?)]) throws -> [UInt8] {
        try signed(payload: Array(freshClaims(changes).utf8))
    }

    /// The control for signed attacks: a valid token of the trusted signer.
    public func signedControl() throws -> [UInt8] {
        try signed()
    }

    /// The signer that the target trusts.
    ///
    /// - Throws: ``MaterialError/Code/issuerMissing`` if there is none.
    func trusted() throws(MaterialError) -> TestIssuer {
        guard let issuer else { throw MaterialError(.issuerMissing, "there is no signer that the target trusts") }
        return issuer
    }
}
