import CLibcrypto

/// A private key that passed ``KeySoundness``. It has no description, so it cannot be logged by accident; its bytes can
/// be had only through the export functions marked secret.
package final class PrivateKey: Sendable {
    /// The public key that belongs to it.
    package let publicKey: PublicKey
    let key: EVPKey

    /// The algorithm, with size or curve.
    package var kind: KeyKind { publicKey.kind }

    /// Checks a decoded key and takes it over.
    ///
    /// An EC key is made again from its numbers, so that no curve parameter but the name comes from the input.
    ///
    /// - Throws: ``LibcryptoError/Code/unsupportedKey`` for a kind that is not in ``KeyKind``,
    ///   ``LibcryptoError/Code/unsoundKey`` for a key that fails ``KeySoundness``.
    init(checking key: EVPKey) throws(LibcryptoError) {
        let kind = try key.kind()
        if case .ec(let curve) = kind {
            let count = curve.coordinateByteCount
            self.key = try Self.ecKey(
                curve, d: try key.number(OSSL_PKEY_PARAM_PRIV_KEY, count: count),
                x: try key.number(OSSL_PKEY_PARAM_EC_PUB_X, count: count),
                y: try key.number(OSSL_PKEY_PARAM_EC_PUB_Y, count: count))
        } else {
            self.key = key
        }
        publicKey = try PublicKey(checking: try Self.publicHalf(of: self.key, kind))
        try KeySoundness.checkPair(self.key, kind)
    }

    /// Generates a new key.
    ///
    /// - Parameter kind: an RSA size is 2048 to 8192 bits. A large RSA key takes seconds to make, so the caller must
    ///   not be on an event loop.
    /// - Throws: ``LibcryptoError/Code/algorithmUnavailable``, or ``LibcryptoError/Code/unsoundKey`` for an RSA size
    ///   that is not allowed.
    package convenience init(generating kind: KeyKind) throws(LibcryptoError) {
        try kind.requireAvailable()
        let context = try LibcryptoError.unwrap(
            EVP_PKEY_CTX_new_from_name(nil, kind.algorithmName, nil), "EVP_PKEY_CTX_new_from_name")
        defer { EVP_PKEY_CTX_free(context) }
        try LibcryptoError.check(EVP_PKEY_keygen_init(context), "EVP_PKEY_keygen_init")
        switch kind {
        case .rsa(let bits):
            guard KeySoundness.rsaBits.contains(bits), let bits = CInt(exactly: bits) else {
                throw LibcryptoError(.unsoundKey, "RSA keys have \(KeySoundness.rsaBits) bits here")
            }
            try LibcryptoError.check(
                EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits), "EVP_PKEY_CTX_set_rsa_keygen_bits")
        case .ec(let curve):
            try LibcryptoError.check(
                EVP_PKEY_CTX_set_group_name(context, curve.groupName), "EVP_PKEY_CTX_set_group_name")
        case .ed25519, .ed448, .mldsa: break
        }
        var key: OpaquePointer?
        try LibcryptoError.check(EVP_PKEY_generate(context, &key), "EVP_PKEY_generate")
        try self.init(checking: EVPKey(takingOwnershipOf: try LibcryptoError.unwrap(key, "EVP_PKEY_generate")))
    }

    private static func publicHalf(of key: EVPKey, _ kind: KeyKind) throws(LibcryptoError) -> EVPKey {
        switch kind {
        case .rsa:
            var parameters = KeyParameters()
            parameters.number(OSSL_PKEY_PARAM_RSA_N, try key.number(OSSL_PKEY_PARAM_RSA_N))
            parameters.number(OSSL_PKEY_PARAM_RSA_E, try key.number(OSSL_PKEY_PARAM_RSA_E))
            return try parameters.makeKey("RSA", isPrivate: false)
        case .ec(let curve):
            let count = curve.coordinateByteCount
            return try PublicKey.ecKey(
                curve, x: try key.number(OSSL_PKEY_PARAM_EC_PUB_X, count: count),
                y: try key.number(OSSL_PKEY_PARAM_EC_PUB_Y, count: count))
        case .ed25519, .ed448, .mldsa:
            let raw = try key.rawPublicBytes()
            let made = EVP_PKEY_new_raw_public_key_ex(nil, kind.algorithmName, nil, raw, raw.count)
            return EVPKey(
                takingOwnershipOf: try LibcryptoError.unwrap(made, "EVP_PKEY_new_raw_public_key_ex"))
        }
    }

    private static func ecKey(_ curve: Curve, d: [UInt8], x: [UInt8], y: [UInt8]) throws(LibcryptoError) -> EVPKey {
        let count = curve.coordinateByteCount
        guard d.count == count, x.count == count, y.count == count else {
            throw LibcryptoError(.unsoundKey, "a number that has not the length of its curve")
        }
        var parameters = KeyParameters()
        parameters.text(OSSL_PKEY_PARAM_GROUP_NAME, curve.groupName)
        parameters.octets(OSSL_PKEY_PARAM_PUB_KEY, [4] + x + y)
        parameters.number(OSSL_PKEY_PARAM_PRIV_KEY, d)
        return try parameters.makeKey("EC", isPrivate: true)
    }

    // MARK: From parameters

    /// An EC key from its private number and its point. Every number has exactly ``Curve/coordinateByteCount`` bytes,
    /// and the point must belong to `d`.
    ///
    /// - Throws: ``LibcryptoError/Code/unsoundKey`` for a wrong length, a point off the curve or a `d` of another
    ///   point.
    package convenience init(curve: Curve, d: [UInt8], x: [UInt8], y: [UInt8]) throws(LibcryptoError) {
        try self.init(checking: try Self.ecKey(curve, d: d, x: x, y: y))
    }

    /// An RSA key from all its numbers, big endian.
    ///
    /// - Throws: ``LibcryptoError/Code/unsoundKey`` if a number has more than 1024 bytes, or the numbers are not one
    ///   key.
    package convenience init(rsa numbers: RSAPrivateNumbers) throws(LibcryptoError) {
        guard numbers.all.allSatisfy({ $0.bytes.count <= KeySoundness.rsaBits.upperBound / 8 }) else {
            throw LibcryptoError(.unsoundKey, "an RSA key whose numbers are too large")
        }
        var parameters = KeyParameters()
        for (name, bytes) in numbers.all { parameters.number(name, bytes) }
        try self.init(checking: try parameters.makeKey("RSA", isPrivate: true))
    }

    /// A key from the private key of an Edwards curve (RFC 8032), or from the seed of ML-DSA (FIPS 204).
    ///
    /// - Parameters:
    ///   - kind: ``KeyKind/ed25519``, ``KeyKind/ed448`` or an ML-DSA kind.
    ///   - rawBytes: 32 bytes for Ed25519 and for a seed, 57 for Ed448.
    /// - Throws: ``LibcryptoError/Code/unsoundKey`` for other bytes, ``LibcryptoError/Code/algorithmUnavailable``.
    package convenience init(kind: KeyKind, rawBytes: [UInt8]) throws(LibcryptoError) {
        try kind.requireAvailable()
        if case .mldsa = kind {
            var parameters = KeyParameters()
            parameters.octets("seed", rawBytes)
            try self.init(checking: try parameters.makeKey(kind.algorithmName, isPrivate: true))
            return
        }
        guard let key = EVP_PKEY_new_raw_private_key_ex(nil, kind.algorithmName, nil, rawBytes, rawBytes.count) else {
            throw LibcryptoError(.unsoundKey, "not the bytes of a \(kind.algorithmName) key")
        }
        try self.init(checking: EVPKey(takingOwnershipOf: key))
    }

    // MARK: To parameters

    /// All numbers of an RSA key. Secret.
    package func rsaPrivateNumbers() throws(LibcryptoError) -> RSAPrivateNumbers {
        try RSAPrivateNumbers(of: key)
    }

    /// The private number of an EC key, of exactly ``Curve/coordinateByteCount`` bytes. Secret.
    package func ecPrivateNumber() throws(LibcryptoError) -> [UInt8] {
        guard case .ec(let curve) = kind else { throw LibcryptoError(.unsupportedKey, "not an EC key") }
        return try key.number(OSSL_PKEY_PARAM_PRIV_KEY, count: curve.coordinateByteCount)
    }

    /// The private key of an Edwards curve, or the 32-byte seed of an ML-DSA key. Secret.
    package func rawPrivateBytes() throws(LibcryptoError) -> [UInt8] {
        if case .mldsa = kind { return try key.octets("seed", count: 32) }
        return try key.rawPrivateBytes()
    }

    // MARK: PEM and DER

    /// The key as PKCS#8 in PEM, encrypted (PBES2, AES-256-CBC) if a passphrase is given. Secret.
    ///
    /// - Throws: ``LibcryptoError/Code/passphrase`` for an empty passphrase, under which nothing would be encrypted.
    package func pkcs8PEM(passphrase: [UInt8]? = nil) throws(LibcryptoError) -> String {
        String(decoding: try KeyEncoder.encode(key, .privateKeyInfo, .pem, passphrase: passphrase), as: UTF8.self)
    }

    /// The key as PKCS#8 in DER, encrypted (PBES2, AES-256-CBC) if a passphrase is given. Secret.
    package func pkcs8DER(passphrase: [UInt8]? = nil) throws(LibcryptoError) -> [UInt8] {
        try KeyEncoder.encode(key, .privateKeyInfo, .der, passphrase: passphrase)
    }
}
