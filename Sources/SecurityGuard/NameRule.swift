import Encodings

/// The rules for names, which are checked before a name is stored or used in a header field.
package enum NameRule {
    /// Whether the text is `usr_…` or `cli_…` with base64url after the prefix, of at most 128 bytes.
    package static func isSubject(_ text: String) -> Bool {
        hasShape(text, prefix: Prefix.user) || hasShape(text, prefix: Prefix.client)
    }

    /// Whether the text is the prefix followed by base64url, of at most 128 bytes.
    package static func hasShape(_ text: String, prefix: String) -> Bool {
        let count = prefix.utf8.count
        guard text.utf8.count > count, text.utf8.count <= 128, text.utf8.starts(with: prefix.utf8) else { return false }
        return text.withBytes { $0.dropFirst(count).allSatisfy(isBase64URL) }
    }

    /// Whether the text is 1 to 128 bytes of visible ASCII, which is safe in header fields and log lines.
    package static func isVisible(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && isVisibleASCII(text)
    }

    /// Whether the text is a client id: 1 to 512 bytes of visible ASCII, because some are URLs.
    package static func isClientID(_ text: String) -> Bool {
        (1...512).contains(text.utf8.count) && isVisibleASCII(text)
    }

    /// Whether the text is a tenant's name: 1 to 64 letters, digits, `.`, `_` or `-`.
    package static func isTenant(_ text: String) -> Bool {
        let bytes = text.utf8
        return !bytes.isEmpty && bytes.count <= 64 && bytes.allSatisfy { isBase64URL($0) || $0 == UInt8(ascii: ".") }
    }

    /// Whether the text is `local@domain` of at most 254 bytes, without white space, control characters or a second
    /// `@`.
    package static func isEmail(_ text: String) -> Bool {
        let bytes = text.utf8
        guard (3...254).contains(bytes.count), let at = bytes.firstIndex(of: UInt8(ascii: "@")) else { return false }
        let domain = bytes[bytes.index(after: at)...]
        return at != bytes.startIndex && !domain.isEmpty && !domain.contains(UInt8(ascii: "@"))
            && bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    private static func isVisibleASCII(_ text: String) -> Bool {
        text.withBytes { bytes in bytes.allSatisfy { 0x21 <= $0 && $0 <= 0x7E } }
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// Compares security-relevant names byte for byte, and not by canonical equivalence as `==` does.
func sameBytes(_ a: String, _ b: String) -> Bool { a.hasSameBytes(as: b) }
