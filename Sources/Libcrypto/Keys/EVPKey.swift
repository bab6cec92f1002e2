import CLibcrypto

/// Owns one reference to an `EVP_PKEY`.
// @unchecked: the key is not changed after it was made, and libcrypto guards its reference count and caches itself.
final class EVPKey: @unchecked Sendable {
    /// Valid as long as this object lives; it is freed when the object is released.
    let pointer: OpaquePointer

    /// Takes over one reference; the caller must not free it.
    init(takingOwnershipOf pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }

    /// The kind of the key.
    ///
    /// - Throws: ``LibcryptoError/Code/unsupportedKey`` for algorithms and curves that are not in ``KeyKind``.
    func kind() throws(LibcryptoError) -> KeyKind {
        if EVP_PKEY_is_a(pointer, "RSA") == 1 { return .rsa(bits: Int(EVP_PKEY_get_bits(pointer))) }
        if EVP_PKEY_is_a(pointer, "ED25519") == 1 { return .ed25519 }
        if EVP_PKEY_is_a(pointer, "ED448") == 1 { return .ed448 }
        if EVP_PKEY_is_a(pointer, "EC") == 1 {
            let name = try groupName()
            guard let curve = Curve.allCases.first(where: { $0.groupName == name }) else {
                throw LibcryptoError(.unsupportedKey, "an elliptic curve that is not used here: \(name)")
            }
            return .ec(curve)
        }
        for parameters in MLDSAParameters.allCases where EVP_PKEY_is_a(pointer, parameters.rawValue) == 1 {
            return .mldsa(parameters)
        }
        throw LibcryptoError(.unsupportedKey, "a kind of key that is not used here")
    }

    private func groupName() throws(LibcryptoError) -> String {
        var name = [UInt8](repeating: 0, count: 80)
        var length = 0
        let result = name.withUnsafeMutableBytes {
            EVP_PKEY_get_group_name(pointer, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, &length)
        }
        guard result == 1, length <= name.count else {
            throw LibcryptoError(.unsupportedKey, "an elliptic curve without a name")
        }
        return String(decoding: name.prefix(length), as: UTF8.self)
    }

    // MARK: Numbers and bytes

    /// A number of the key, big endian, padded to `count` bytes, or without leading zeros if `count` is nil.
    ///
    /// - Throws: ``LibcryptoError/Code/unreadableKey`` if the key has no such number,
    ///   ``LibcryptoError/Code/unsoundKey`` if it does not fit in `count` bytes.
    func number(_ name: String, count: Int? = nil) throws(LibcryptoError) -> [UInt8] {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1, let number else {
            throw LibcryptoError(.unreadableKey, "the key has no number \(name)")
        }
        defer { BN_clear_free(number) }
        let minimum = (Int(BN_num_bits(number)) + 7) / 8
        let count = count ?? max(1, minimum)
        guard let wanted = CInt(exactly: count), minimum <= count else {
            throw LibcryptoError(.unsoundKey, "the number \(name) of the key is too large")
        }
        var bytes = [UInt8](repeating: 0, count: count)
        guard BN_bn2binpad(number, &bytes, wanted) == wanted else {
            throw LibcryptoError(.failed, "BN_bn2binpad failed")
        }
        return bytes
    }

    /// The public key of an Edwards curve (RFC 8032) or of ML-DSA (FIPS 204), in its standard encoding.
    func rawPublicBytes() throws(LibcryptoError) -> [UInt8] {
        var length = 0
        try LibcryptoError.check(EVP_PKEY_get_raw_public_key(pointer, nil, &length), "EVP_PKEY_get_raw_public_key")
        var bytes = [UInt8](repeating: 0, count: length)
        try LibcryptoError.check(EVP_PKEY_get_raw_public_key(pointer, &bytes, &length), "EVP_PKEY_get_raw_public_key")
        return Array(bytes.prefix(length))
    }

    /// The private key of an Edwards curve (RFC 8032).
    func rawPrivateBytes() throws(LibcryptoError) -> [UInt8] {
        var length = 0
        try LibcryptoError.check(EVP_PKEY_get_raw_private_key(pointer, nil, &length), "EVP_PKEY_get_raw_private_key")
        var bytes = [UInt8](repeating: 0, count: length)
        try LibcryptoError.check(EVP_PKEY_get_raw_private_key(pointer, &bytes, &length), "EVP_PKEY_get_raw_private_key")
        return Array(bytes.prefix(length))
    }

    /// An octet string of the key of at most `count` bytes, such as the seed of an ML-DSA key.
    func octets(_ name: String, count: Int) throws(LibcryptoError) -> [UInt8] {
        var length = 0
        var bytes = [UInt8](repeating: 0, count: count)
        try LibcryptoError.check(
            EVP_PKEY_get_octet_string_param(pointer, name, &bytes, count, &length), "EVP_PKEY_get_octet_string_param")
        return Array(bytes.prefix(length))
    }
}
