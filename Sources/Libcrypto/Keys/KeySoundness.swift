import CLibcrypto

/// The checks that every key must pass before it is used, also one made by the gateway itself.
enum KeySoundness {
    /// The lengths of an RSA modulus in bits: at least 2048 (RFC 7518 section 3.3), and at most 8192, because longer
    /// ones take too much time to verify with.
    static let rsaBits = 2048...8192

    /// Throws ``LibcryptoError/Code/unsoundKey`` unless the public key is sound: RSA has an allowed size and exponent,
    /// an EC point lies on its curve, an Edwards point is canonical and not of small order.
    static func checkPublic(_ key: EVPKey, _ kind: KeyKind) throws(LibcryptoError) {
        switch kind {
        case .rsa(let bits): try checkRSA(key, bits: bits)
        case .ec: try check(key, EVP_PKEY_public_check, "a point that is not on its curve")
        case .ed25519, .ed448: try checkEdwards(try key.rawPublicBytes())
        case .mldsa: break
        }
    }

    /// Throws ``LibcryptoError/Code/unsoundKey`` unless the private key belongs to the public key.
    static func checkPair(_ key: EVPKey, _ kind: KeyKind) throws(LibcryptoError) {
        switch kind {
        case .rsa, .ec: try check(key, EVP_PKEY_pairwise_check, "a private key that does not fit its public key")
        case .ed25519, .ed448, .mldsa: break
        }
    }

    private static func check(
        _ key: EVPKey, _ function: (OpaquePointer?) -> CInt, _ fault: String
    ) throws(LibcryptoError) {
        let context = try LibcryptoError.unwrap(
            EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), "EVP_PKEY_CTX_new_from_pkey")
        defer { EVP_PKEY_CTX_free(context) }
        guard function(context) == 1 else { throw LibcryptoError(.unsoundKey, fault) }
    }

    private static func checkRSA(_ key: EVPKey, bits: Int) throws(LibcryptoError) {
        guard rsaBits.contains(bits) else {
            throw LibcryptoError(
                .unsoundKey, "an RSA key of \(bits) bits; \(rsaBits.lowerBound) to \(rsaBits.upperBound) are used")
        }
        guard try key.number(OSSL_PKEY_PARAM_RSA_N).last.map({ $0 & 1 == 1 }) == true else {
            throw LibcryptoError(.unsoundKey, "an RSA key with an even modulus")
        }
        let exponent = try key.number(OSSL_PKEY_PARAM_RSA_E)
        let value = exponent.count <= 8 ? exponent.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } : 0
        guard value >= 65537, value & 1 == 1 else {
            throw LibcryptoError(.unsoundKey, "an RSA exponent that is not odd, at least 65537 and at most 64 bits")
        }
    }

    // MARK: Edwards curves

    /// Refuses encodings that are not canonical (RFC 8032 sections 5.1.3 and 5.2.3), and points of small order: for
    /// those, signatures that verify can be made without a private key.
    private static func checkEdwards(_ bytes: [UInt8]) throws(LibcryptoError) {
        var y = bytes
        if bytes.count == 32 { y[31] &= 0x7F }
        let isEd25519 = bytes.count == 32
        let modulus = isEd25519 ? modulus25519 : modulus448
        let numberBytes = isEd25519 ? y : Array(y.prefix(56))
        if !isEd25519 {
            guard bytes.count == 57, bytes[56] & 0x7F == 0 else {
                throw LibcryptoError(.unsoundKey, "an Ed448 key that is not written in its one way")
            }
        }
        guard isLess(numberBytes, modulus) else {
            throw LibcryptoError(.unsoundKey, "a public key that is not written in its one way")
        }
        var minusOne = modulus
        minusOne[0] -= 1
        let zero = [UInt8](repeating: 0, count: modulus.count)
        let one = [1] + zero.dropFirst()
        let smallOrder = [zero, one, minusOne] + (isEd25519 ? orderEight : [])
        guard !smallOrder.contains(numberBytes) else {
            throw LibcryptoError(.unsoundKey, "a public key of small order")
        }
    }

    /// Little-endian comparison.
    private static func isLess(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.reversed().lexicographicallyPrecedes(right.reversed())
    }

    /// 2^255 − 19, little endian.
    private static let modulus25519: [UInt8] = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]

    /// 2^448 − 2^224 − 1, little endian.
    private static let modulus448: [UInt8] =
        [UInt8](repeating: 0xFF, count: 28) + [0xFE] + [UInt8](repeating: 0xFF, count: 27)

    /// The two y coordinates of the points of order eight on edwards25519, little endian.
    private static let orderEight: [[UInt8]] = [
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
            0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
            0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
    ]
}
