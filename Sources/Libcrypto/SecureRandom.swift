import CLibcrypto

/// Random bytes from libcrypto's generator.
package enum SecureRandom {
    /// `count` unpredictable bytes.
    ///
    /// Stops the process if there are none to be had: going on with weak bytes would be worse than not going on.
    package static func bytes(_ count: Int) -> [UInt8] {
        guard count > 0, let wanted = CInt(exactly: count) else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            let result = RAND_bytes(buffer.baseAddress, wanted)
            precondition(result == 1, "the system has no randomness to give")
            written = count
        }
    }
}
