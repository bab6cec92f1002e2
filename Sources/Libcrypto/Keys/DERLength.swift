/// Reads as much DER as is needed to recognise a structure.
enum DERLength {
    /// Whether the bytes are one SEQUENCE from the first byte to the last.
    static func isOneSequence(_ bytes: [UInt8]) -> Bool {
        guard let content = content(of: bytes[...]) else { return false }
        return content.endIndex == bytes.endIndex
    }

    /// Whether this is an EncryptedPrivateKeyInfo (RFC 5958 section 3): a SEQUENCE of a SEQUENCE and an OCTET STRING.
    static func looksEncrypted(_ bytes: [UInt8]) -> Bool {
        guard let outer = content(of: bytes[...]), let algorithm = content(of: outer) else { return false }
        return algorithm.endIndex < bytes.endIndex && bytes[algorithm.endIndex] == 0x04
    }

    private static func content(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard bytes.count >= 2, bytes.first == 0x30 else { return nil }
        let first = bytes[bytes.startIndex + 1]
        var start = bytes.startIndex + 2
        var length = Int(first)
        if first & 0x80 != 0 {
            let count = Int(first & 0x7F)
            guard (1...3).contains(count), bytes.count >= 2 + count else { return nil }
            length = bytes[start..<(start + count)].reduce(0) { $0 << 8 | Int($1) }
            start += count
        }
        guard length <= bytes.endIndex - start else { return nil }
        return bytes[start..<(start + length)]
    }
}
