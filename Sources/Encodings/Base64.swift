/// Base64 (RFC 4648 section 4): base64url but for two characters and the padding.
package enum Base64 {
    /// The encoding of `bytes` with padding, of which ``unpadded(_:)`` has none.
    package static func padded(_ bytes: [UInt8]) -> String {
        let text = unpadded(bytes)
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    /// The encoding of `bytes` without padding.
    package static func unpadded(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encodeBytes(bytes).map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that `text`, without padding, encodes; nil if it is not strictly that, as ``Base64URL`` is strict.
    package static func decode(unpadded text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: "-"))
            case UInt8(ascii: "/"): bytes.append(UInt8(ascii: "_"))
            case UInt8(ascii: "-"), UInt8(ascii: "_"): return nil
            default: bytes.append(byte)
            }
        }
        return Base64URL.decode(bytes)
    }
}
