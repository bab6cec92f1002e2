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
