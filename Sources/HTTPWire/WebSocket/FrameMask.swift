/// The masking of payloads (RFC 6455 section 5.3).
public enum FrameMask {
    /// Copies `source` to `target` and applies the masking key, eight bytes at a time.
    ///
    /// - Parameters:
    ///   - key: the masking key, big endian.
    ///   - source: a piece of the payload.
    ///   - target: memory of at least the same size; what does not fit is left out.
    ///   - offset: the offset of `source` in the payload.
    static func apply(
        _ key: UInt32, from source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer, offset: Int
    ) {
        let count = min(source.count, target.count)
        let turned = key.rotatedLeft(by: (offset & 3) * 8).bigEndian
        let word = UInt64(turned) << 32 | UInt64(turned)
        var position = 0
        while count - position >= 8 {
            let plain = source.loadUnaligned(fromByteOffset: position, as: UInt64.self) ^ word
            target.storeBytes(of: plain, toByteOffset: position, as: UInt64.self)
            position += 8
        }
        let keyBytes = word.littleEndian
        while position < count {
            target[position] = source[position] ^ UInt8(truncatingIfNeeded: keyBytes >> UInt64((position & 7) * 8))
            position += 1
        }
    }
}

extension UInt32 {
    fileprivate func rotatedLeft(by bits: Int) -> UInt32 {
        bits == 0 ? self : self << UInt32(bits) | self >> UInt32(32 - bits)
    }
}
