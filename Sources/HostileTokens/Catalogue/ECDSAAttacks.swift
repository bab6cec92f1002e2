import Encodings
import JOSE

/// J09, J10, J33: ECDSA signatures out of range, in DER, of wrong lengths, and garbage.
enum ECDSAAttacks {
    /// They apply to targets whose valid token is signed by ECDSA; the signature is all that differs from it.
    static let all: [Attack] = psychic + encodings + garbage

    /// The valid signature: its halves, and the order of the group.
    struct Halves {
        let r: [UInt8]
        let s: [UInt8]
        let order: [UInt8]
        var count: Int { order.count }

        /// Nil if the valid token is not signed by ECDSA, or its signature has another length than two halves.
        init?(_ material: AttackMaterial) {
            switch material.algorithm {
            case .es256: order = GroupOrder.p256
            case .es384: order = GroupOrder.p384
            case .es512: order = GroupOrder.p521
            case .es256k: order = GroupOrder.secp256k1
            default: return nil
            }
            guard material.signature.count == 2 * order.count else { return nil }
            r = Array(material.signature.prefix(order.count))
            s = Array(material.signature.suffix(order.count))
        }

        /// A small number as long as the order.
        func number(_ value: UInt8) -> [UInt8] { BigNumber.small(value, count: count) }
        /// The valid signature as DER, which JOSE does not use.
        var der: [UInt8] { DER.sequence(DER.integer(r), DER.integer(s)) }
    }

    // MARK: J09

    /// J09: r and s must be from 1 to n − 1 (FIPS 186-5 section 6.4.2). Java accepted zeros for any message
    /// (CVE-2022-21449).
    private static let psychic: [Attack] = [
        attack("J09-zero-zero", "r = s = 0", psychicReference) { $0.number(0) + $0.number(0) },
        attack("J09-zero-one", "r = 0, s = 1", psychicReference) { $0.number(0) + $0.number(1) },
        attack("J09-one-zero", "r = 1, s = 0", psychicReference) { $0.number(1) + $0.number(0) },
        attack("J09-one-one", "r = s = 1", psychicReference) { $0.number(1) + $0.number(1) },
        attack("J09-n-n", "r = s = n", psychicReference) { $0.order + $0.order },
        attack("J09-r-n", "s = n", psychicReference) { $0.r + $0.order },
        attack("J09-n-s", "r = n", psychicReference) { $0.order + $0.s },
        attack("J09-zero-s", "r = 0", psychicReference) { $0.number(0) + $0.s },
        attack("J09-r-zero", "s = 0", psychicReference) { $0.r + $0.number(0) },
        attack("J09-r-plus-n", "r + n", psychicReference) { halves in
            BigNumber.sum(halves.r, halves.order).map { $0 + halves.s }
        },
        attack("J09-s-plus-n", "s + n", psychicReference) { halves in
            BigNumber.sum(halves.s, halves.order).map { halves.r + $0 }
        },
        attack("J09-der-zero-zero", "r = s = 0 in DER", psychicReference) { _ in
            DER.sequence(DER.integer([0]), DER.integer([0]))
        },
    ]

    // MARK: J10

    /// J10: the signature is r‖s, each as long as the order of the group, and nothing else (RFC 7518 section 3.4).
    private static let encodings: [Attack] = [
        attack("J10-der", "the good signature in DER", lengthReference) { $0.der },
        attack("J10-short", "the good signature without its last byte", lengthReference) { ($0.r + $0.s).dropLast() },
        attack("J10-zero-first", "a zero byte before the good signature", lengthReference) { [0] + $0.r + $0.s },
        attack("J10-zero-last", "a zero byte after the good signature", lengthReference) { $0.r + $0.s + [0] },
        attack("J10-zeros-last", "a signature's length of zeros after it", lengthReference) {
            $0.r + $0.s + Bytes.zeros(2 * $0.count)
        },
        attack("J10-doubled", "the good signature twice", lengthReference) { $0.r + $0.s + $0.r + $0.s },
        attack("J10-wide", "both halves filled up to twice their width", lengthReference) {
            Bytes.zeros($0.count) + $0.r + Bytes.zeros($0.count) + $0.s
        },
        attack("J10-swapped", "s before r", lengthReference) { $0.s + $0.r },
        attack("J10-r-only", "r alone", lengthReference) { $0.r },
    ]

    // MARK: J33

    /// J33: signatures for which a verifier reports an error and not a mismatch. An error must not count as success.
    private static let garbage: [Attack] = [
        attack("J33-one-byte", "a signature of one zero byte", errorReference) { _ in [0] },
        attack("J33-der-empty", "an empty DER sequence", errorReference) { _ in [0x30, 0] },
        attack("J33-der-trailing", "the good signature in DER and one byte more", errorReference) { $0.der + [0] },
        attack("J33-garbage", "garbage of the right length", errorReference) {
            (0..<(2 * $0.count)).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
        },
        attack("J33-ones", "all bits set", errorReference) { [UInt8](repeating: 0xFF, count: 2 * $0.count) },
    ]

    private static let psychicReference = "CVE-2022-21449, FIPS 186-5 §6.4.2"
    private static let lengthReference = "RFC 7518 §3.4"
    private static let errorReference = "RFC 7518 §3.4; a verifier's -1 is not a yes"

    /// - Parameter signature: the bytes in place of the valid signature, made from its halves; nil where that can't be
    ///   done.
    private static func attack(
        _ id: String, _ title: String, _ reference: String, _ signature: @escaping @Sendable (Halves) -> [UInt8]?
    ) -> Attack {
        Attack(id: id, title: title, reference: reference, category: .ecdsa) { material in
            Halves(material).flatMap(signature).map { .token(material.token(signature: $0)) }
        }
    }
}
