import CLibcrypto

/// The password hash scrypt (RFC 7914).
package enum Scrypt {
    /// The most memory one derivation may take, in bytes.
    package static let maximumMemory: UInt64 = 256 * 1024 * 1024

    /// Derives `length` bytes (1 to 1024) from a password.
    ///
    /// It takes about 128·r·n bytes of memory and blocks the thread for the whole time, so it must not be called on an
    /// event loop.
    ///
    /// - Parameters:
    ///   - n: the cost, a power of two above 1 (RFC 7914 section 2).
    ///   - r: the block size.
    ///   - p: the parallelisation; the lanes are computed one after the other, so it multiplies the time.
    /// - Throws: ``LibcryptoError/Code/failed`` for parameters that RFC 7914 forbids, or that need more than
    ///   ``maximumMemory``.
    package static func derive(
        password: [UInt8], salt: [UInt8], n: UInt64, r: UInt64, p: UInt64, length: Int
    ) throws(LibcryptoError) -> [UInt8] {
        guard (1...1024).contains(length) else { throw LibcryptoError(.failed, "scrypt: impossible length") }
        var derived = [UInt8](repeating: 0, count: length)
        let result = password.withUnsafeBytes { password in
            // A null password means "only check the parameters", so an empty one needs an address.
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
