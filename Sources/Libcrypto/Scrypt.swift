import CLibcrypto

/// The password hash of RFC 7914.
package enum Scrypt {
    /// The most memory one derivation may take, in bytes.
    package static let maximumMemory: UInt64 = 256 * 1024 * 1024

    /// `length` bytes from a password; takes about 128·r·n bytes of memory and blocks the thread meanwhile.
    package static func derive(
        password: [UInt8], salt: [UInt8], n: UInt64, r: UInt64, p: UInt64, length: Int
    ) throws(LibcryptoError) -> [UInt8] {
        guard (1...1024).contains(length) else { throw LibcryptoError(.failed, "scrypt: impossible length") }
        var derived = [UInt8](repeating: 0, count: length)
        let result = password.withUnsafeBytes { password in
            // libcrypto takes a null password for "only check the parameters", so an empty one needs an address.
            withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { empty in
                EVP_PBE_scrypt(
                    (password.baseAddress ?? UnsafeRawPointer(empty.baseAddress))?.assumingMemoryBound(to: CChar.self),
                    password.count, salt, salt.count, n, r, p, maximumMemory, &derived, length)
            }
        }
        try LibcryptoError.check(result, "EVP_PBE_scrypt")
        return derived
    }
}
