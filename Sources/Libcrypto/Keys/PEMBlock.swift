/// One block of a PEM text (RFC 7468): its label, and its bytes including the two boundary lines.
struct PEMBlock {
    /// The text between `-----BEGIN ` and the dashes, such as `PRIVATE KEY`; at most 64 bytes.
    let label: String
    /// The block from its first boundary line to its last, and a line feed.
    let bytes: [UInt8]

    /// Whether the body has the header of the older PEM encryption (RFC 1421), which was used before PKCS#8.
    var isTraditionallyEncrypted: Bool {
        Self.find(Array("Proc-Type: 4,ENCRYPTED".utf8), in: bytes, from: 0) != nil
    }

    /// The complete blocks in order, at most eight.
    ///
    /// A block without its end line ends the search: neither it nor anything after it is returned.
    static func all(in text: [UInt8]) -> [PEMBlock] {
        let begin = Array("-----BEGIN ".utf8)
        let dashes = Array("-----".utf8)
        var blocks: [PEMBlock] = []
        var at = 0
        while blocks.count < 8, let start = find(begin, in: text, from: at) {
            let labelStart = start + begin.count
            guard let labelEnd = find(dashes, in: text, from: labelStart), labelEnd - labelStart <= 64 else { break }
            let label = Array(text[labelStart..<labelEnd])
            let ending = Array("-----END ".utf8) + label + dashes
            guard let end = find(ending, in: text, from: labelEnd) else { break }
            at = end + ending.count
            let name = String(decoding: label, as: UTF8.self)
            blocks.append(PEMBlock(label: name, bytes: Array(text[start..<at]) + [10]))
        }
        return blocks
    }

    private static func find(_ needle: [UInt8], in text: [UInt8], from start: Int) -> Int? {
        guard start >= 0, needle.count <= text.count, start <= text.count - needle.count else { return nil }
        return (start...(text.count - needle.count)).first { text[$0..<($0 + needle.count)].elementsEqual(needle) }
    }
}

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
