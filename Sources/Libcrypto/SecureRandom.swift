import CLibcrypto

/// Random bytes from libcrypto's generator.
package enum SecureRandom {
    /// `count` unpredictable bytes; none if `count` is not positive.
    ///
    /// Stops the process if libcrypto has no randomness, because continuing with predictable bytes would be worse.
    ///
    /// - Parameter count: at most `Int32.max`; a larger number also gives no bytes.
    package static func bytes(_ count: Int) -> [UInt8] {
        guard count > 0, let wanted = CInt(exactly: count) else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            let result = RAND_bytes(buffer.baseAddress, wanted)
            precondition(result == 1, "the system has no randomness to give")
            written = count
        }
    }
}
