import Encodings
import Libcrypto

/// A personal access token: `pat_`, then 32 random bytes and a CRC-32 of them, both in base62 of fixed width. The
/// checksum lets scanners of leaked secrets tell a real token from a similar text. Only a hash is stored.
package enum PersonalToken {
    /// The prefix of every token.
    package static let prefix = "pat_"
    /// The `client_id` of requests with such a token.
    package static let clientID = "pat"
    /// The longest lifetime in seconds: 366 days.
    package static let maximumLifetime: Int64 = 366 * 86_400
    /// The most live tokens that a user may have.
    package static let maximumPerUser = 100

    private static let secretWidth = 43
    private static let checksumWidth = 6
    private static let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// A new token.
    package static func random() -> String { text(of: SecureRandom.bytes(32)) }

    /// A new id, by which people and the store name a token: it opens nothing.
    package static func randomID() -> String { "ptk_" + Base64URL.encode(SecureRandom.bytes(16)) }

    /// The token of 32 bytes.
    package static func text(of bytes: [UInt8]) -> String {
        let secret = base62(bytes, width: secretWidth)
        return prefix + String(decoding: secret + checksum(of: secret), as: UTF8.self)
    }

    /// The hash by which a token is found; nil for a text whose form or checksum is wrong.
    package static func hash(_ text: some Collection<UInt8>) -> [UInt8]? {
        let bytes = Array(text)
        guard bytes.count == prefix.utf8.count + secretWidth + checksumWidth, bytes.starts(with: prefix.utf8) else {
            return nil
        }
        let secret = Array(bytes.dropFirst(prefix.utf8.count).prefix(secretWidth))
        guard secret.allSatisfy(digits.contains), Array(bytes.suffix(checksumWidth)) == checksum(of: secret) else {
            return nil
        }
        return Digest.sha256(bytes)
    }

    private static func checksum(of bytes: [UInt8]) -> [UInt8] {
        let sum = crc32(bytes)
        return base62((0..<4).map { UInt8(truncatingIfNeeded: sum >> (24 - 8 * $0)) }, width: checksumWidth)
    }

    /// The number that the bytes are, most significant first, in base62 with leading zeros.
    private static func base62(_ bytes: [UInt8], width: Int) -> [UInt8] {
        var number = bytes
        var out = [UInt8](repeating: digits[0], count: width)
        for place in stride(from: width - 1, through: 0, by: -1) {
            var rest = 0
            for index in number.indices {
                let value = rest << 8 | Int(number[index])
                number[index] = UInt8(value / 62)
                rest = value % 62
            }
            out[place] = digits[rest]
        }
        return out
    }

    /// CRC-32 with the polynomial of IEEE 802.3, as zlib computes it.
    static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}
