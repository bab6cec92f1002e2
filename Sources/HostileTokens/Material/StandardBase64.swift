import Encodings

/// Standard base64 (RFC 4648 section 4), whose alphabet and padding base64url does not use.
enum StandardBase64 {
    /// The bytes in standard base64 with padding.
    static func encode(_ bytes: [UInt8]) -> String {
        padded(String(decoding: alphabet(Base64URL.encodeBytes(bytes)), as: UTF8.self))
    }

    /// The text with `+` and `/` in place of `-` and `_`.
    static func alphabet(_ text: [UInt8]) -> [UInt8] {
        text.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
    }

    /// The text padded with `=` to a multiple of four.
    static func padded(_ text: String) -> String {
        text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}
