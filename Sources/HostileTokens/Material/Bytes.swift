import Encodings

/// Small helpers over bytes.
enum Bytes {
    /// The base64url encoding of a text.
    static func base64URL(_ text: String) -> [UInt8] {
        Base64URL.encodeBytes(text.utf8)
    }

    /// The bytes with the bits of `mask` flipped at an index; nil if there is no such index.
    static func flipped(_ bytes: [UInt8], at index: Int, mask: UInt8 = 1) -> [UInt8]? {
        guard bytes.indices.contains(index) else { return nil }
        var bytes = bytes
        bytes[index] ^= mask
        return bytes
    }

    /// `count` zero bytes.
    static func zeros(_ count: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: max(0, count))
    }
}
