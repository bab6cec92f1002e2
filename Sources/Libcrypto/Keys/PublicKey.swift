import CLibcrypto

/// A public key that passed ``KeySoundness``. Immutable, and safe to use from any thread.
package final class PublicKey: Sendable {
    /// The algorithm, with size or curve.
    package let kind: KeyKind
    let key: EVPKey

    /// Checks a decoded key and takes it over.
    init(checking key: EVPKey) throws(LibcryptoError) {
        let kind = try key.kind()
        if case .ec(let curve) = kind {
            // Made again from its coordinates, so that no curve parameter but the name comes from the input.
            let count = curve.coordinateByteCount
            self.key = try Self.ecKey(
                curve, x: try key.number(OSSL_PKEY_PARAM_EC_PUB_X, count: count),
                y: try key.number(OSSL_PKEY_PARAM_EC_PUB_Y, count: count))
        } else {
            self.key = key
        }
        self.kind = kind
        try KeySoundness.checkPublic(self.key, kind)
    }

    // MARK: From parameters

    /// An RSA key from its modulus and exponent, big endian.
    ///
    /// - Throws: ``LibcryptoError/Code/unsoundKey`` unless the modulus is odd and has 2048 to 8192 bits, and the
    ///   exponent is odd, at least 65537, and has at most 64 bits.
    package convenience init(rsaModulus n: [UInt8], exponent e: [UInt8]) throws(LibcryptoError) {
        guard n.count <= KeySoundness.rsaBits.upperBound / 8, e.count <= 8 else {
            throw LibcryptoError(.unsoundKey, "an RSA key whose numbers are too large")
        }
        var parameters = KeyParameters()
        parameters.number(OSSL_PKEY_PARAM_RSA_N, n)
        parameters.number(OSSL_PKEY_PARAM_RSA_E, e)
        try self.init(checking: try parameters.makeKey("RSA", isPrivate: false))
    }

    /// An EC key from its coordinates, which have exactly ``Curve/coordinateByteCount`` bytes each.
    ///
    /// - Throws: ``LibcryptoError/Code/unsoundKey`` for another length, or for a point that is not on the curve.
    package convenience init(curve: Curve, x: [UInt8], y: [UInt8]) throws(LibcryptoError) {
        try self.init(checking: try Self.ecKey(curve, x: x, y: y))
    }

    /// A key from the encoding of RFC 8032 (Edwards curves) or FIPS 204 (ML-DSA).
    ///
    /// - Throws: ``LibcryptoError/Code/unsoundKey`` for bytes of another length, or a point that is not canonical or of
    ///   small order; ``LibcryptoError/Code/algorithmUnavailable``.
    package convenience init(kind: KeyKind, rawBytes: [UInt8]) throws(LibcryptoError) {
        try kind.requireAvailable()
        guard let key = EVP_PKEY_new_raw_public_key_ex(nil, kind.algorithmName, nil, rawBytes, rawBytes.count) else {
            throw LibcryptoError(.unsoundKey, "not the bytes of a \(kind.algorithmName) key")
        }
        try self.init(checking: EVPKey(takingOwnershipOf: key))
    }

    /// A key from an uncompressed point (SEC 1 section 2.3.3), not yet checked by ``KeySoundness``.
    static func ecKey(_ curve: Curve, x: [UInt8], y: [UInt8]) throws(LibcryptoError) -> EVPKey {
        guard x.count == curve.coordinateByteCount, y.count == curve.coordinateByteCount else {
            throw LibcryptoError(.unsoundKey, "a coordinate that has not the length of its curve")
        }
        var parameters = KeyParameters()
        parameters.text(OSSL_PKEY_PARAM_GROUP_NAME, curve.groupName)
        parameters.octets(OSSL_PKEY_PARAM_PUB_KEY, [4] + x + y)
        return try parameters.makeKey("EC", isPrivate: false)
    }

    // MARK: To parameters

    /// Modulus and exponent of an RSA key, big endian, without leading zeros.
    package func rsaComponents() throws(LibcryptoError) -> (n: [UInt8], e: [UInt8]) {
        (try key.number(OSSL_PKEY_PARAM_RSA_N), try key.number(OSSL_PKEY_PARAM_RSA_E))
    }

    /// The coordinates of an EC key, of exactly ``Curve/coordinateByteCount`` bytes each.
    package func ecCoordinates() throws(LibcryptoError) -> (x: [UInt8], y: [UInt8]) {
        guard case .ec(let curve) = kind else { throw LibcryptoError(.unsupportedKey, "not an EC key") }
        let count = curve.coordinateByteCount
        return (
            try key.number(OSSL_PKEY_PARAM_EC_PUB_X, count: count),
            try key.number(OSSL_PKEY_PARAM_EC_PUB_Y, count: count)
        )
    }

    /// The public key of an Edwards curve or of ML-DSA, in its standard encoding.
    package func rawBytes() throws(LibcryptoError) -> [UInt8] {
        try key.rawPublicBytes()
    }

    // MARK: PEM and DER

    /// The key as a PEM `PUBLIC KEY` block.
    package func pem() throws(LibcryptoError) -> String {
        String(decoding: try KeyEncoder.encode(key, .subjectPublicKeyInfo, .pem), as: UTF8.self)
    }

    /// The key as a DER SubjectPublicKeyInfo.
    package func der() throws(LibcryptoError) -> [UInt8] {
        try KeyEncoder.encode(key, .subjectPublicKeyInfo, .der)
    }
}
