import Encodings
import JOSE

/// J11: Ed25519 signatures that an incomplete check would accept.
enum EdDSAAttacks {
    static let all: [Attack] = [
        attack("s-plus-l", "S + L") { r, s in
            // The scalar is little endian.
            BigNumber.sum(s.reversed(), GroupOrder.ed25519).map { r + $0.reversed() }
        },
        attack("r-bit", "one bit of R changed") { r, s in Bytes.flipped(r, at: 0).map { $0 + s } },
        attack("r-sign", "the sign bit of R changed") { r, s in Bytes.flipped(r, at: 31, mask: 0x80).map { $0 + s } },
        attack("s-bit", "one bit of S changed") { r, s in Bytes.flipped(s, at: 0).map { r + $0 } },
        attack("s-high-bits", "the high bits of S set") { r, s in Bytes.flipped(s, at: 31, mask: 0xE0).map { r + $0 } },
        attack("s-zero", "S = 0") { r, _ in r + Bytes.zeros(32) },
        attack("identity", "R the identity, S = 0") { _, _ in [1] + Bytes.zeros(63) },
        attack("identity-unreduced", "R the identity written past p, S = 0") { _, _ in
            [0xEE] + [UInt8](repeating: 0xFF, count: 30) + [0x7F] + Bytes.zeros(32)
        },
        attack("zeros", "R = 0, S = 0") { _, _ in Bytes.zeros(64) },
        attack("short", "63 bytes") { r, s in r + s.dropLast() },
        attack("long", "65 bytes") { r, s in r + s + [0] },
        attack("swapped", "S before R") { r, s in s + r },
    ]

    /// The valid token with another signature. It applies to Ed25519 only.
    ///
    /// - Parameter signature: makes the signature from R and S of the valid one, 32 bytes each; nil if it cannot.
    private static func attack(
        _ name: String, _ title: String, _ signature: @escaping @Sendable ([UInt8], [UInt8]) -> [UInt8]?
    ) -> Attack {
        Attack(id: "J11-\(name)", title: title, reference: "RFC 8032 §5.1.7, RFC 8037 §3.1", category: .eddsa) {
            material in
            guard material.algorithm == .ed25519 || material.algorithm == .eddsa, material.signature.count == 64 else {
                return nil
            }
            return signature(Array(material.signature.prefix(32)), Array(material.signature.suffix(32)))
                .map { .token(material.token(signature: $0)) }
        }
    }
}
