import Encodings
import JOSE

/// J12: RSA signatures at the limits of their range.
enum RSAAttacks {
    static let all: [Attack] = [
        attack("zero", "the number 0") { _, n in Bytes.zeros(n.count) },
        attack("one", "the number 1") { _, n in BigNumber.small(1, count: n.count) },
        attack("n-minus-one", "n - 1") { _, n in BigNumber.predecessor(n) },
        attack("n", "n") { _, n in n },
        attack("plus-n", "the good signature + n") { signature, n in
            BigNumber.sum([0] + signature, n)
        },
        attack("zero-first", "a zero byte before the good signature") { signature, _ in [0] + signature },
        attack("zero-last", "a zero byte after the good signature") { signature, _ in signature + [0] },
        attack("half", "the first half of the good signature") { signature, _ in
            Array(signature.prefix(signature.count / 2))
        },
        attack("padding", "the bare padding block, as a key of e = 1 would make it") { _, n in
            [0, 1] + [UInt8](repeating: 0xFF, count: max(0, n.count - 3)) + [0]
        },
    ]

    /// The valid token with another signature. A number that is not below the modulus must be refused (RFC 8017 section
    /// 5.2.2), and so must any length but that of the modulus (section 8.2.2).
    ///
    /// - Parameter signature: makes it from the valid signature and the modulus, both big endian; nil if it cannot.
    private static func attack(
        _ name: String, _ title: String, _ signature: @escaping @Sendable ([UInt8], [UInt8]) -> [UInt8]?
    ) -> Attack {
        Attack(id: "J12-\(name)", title: title, reference: "RFC 8017 §8.2.2, RFC 7518 §3.3", category: .rsa) {
            material in
            guard let key = material.key, let n = KeyForms.member("n", of: key) else { return nil }
            return signature(material.signature, n).map { .token(material.token(signature: $0)) }
        }
    }
}
