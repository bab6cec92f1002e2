/// Arithmetic on big-endian numbers of a fixed number of bytes, as needed to move a signature out of its range.
enum BigNumber {
    /// The sum, or nil if it needs more bytes than the longer of the two.
    static func sum(_ left: [UInt8], _ right: [UInt8]) -> [UInt8]? {
        let count = max(left.count, right.count)
        var result = [UInt8](repeating: 0, count: count)
        var carry = 0
        for place in 0..<count {
            let total = digit(left, place) + digit(right, place) + carry
            result[count - 1 - place] = UInt8(truncatingIfNeeded: total)
            carry = total >> 8
        }
        return carry == 0 ? result : nil
    }

    /// The difference of two numbers, in as many bytes as the first. The second must not be greater.
    static func difference(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: left.count)
        var borrow = 0
        for place in 0..<left.count {
            let rest = digit(left, place) - digit(right, place) - borrow
            result[left.count - 1 - place] = UInt8(truncatingIfNeeded: rest)
            borrow = rest < 0 ? 1 : 0
        }
        return result
    }

    /// The number minus one. The number must not be zero.
    static func predecessor(_ value: [UInt8]) -> [UInt8] {
        var result = value
        for index in result.indices.reversed() {
            result[index] &-= 1
            if result[index] != 0xFF { break }
        }
        return result
    }

    /// A small number in `count` bytes.
    static func small(_ value: UInt8, count: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: max(0, count - 1)) + [value]
    }

    private static func digit(_ value: [UInt8], _ place: Int) -> Int {
        place < value.count ? Int(value[value.count - 1 - place]) : 0
    }
}

/// The orders of the groups, big endian.
enum GroupOrder {
    /// The order of P-256 (SP 800-186 section 3.2.1.3).
    static let p256 = bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    static let p384 = bytes(
        "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973")
    static let p521 = bytes(
        "01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709"
            + "a5d03bb5c9b8899c47aebb6fb71e91386409")
    /// The order of secp256k1 (SEC 2 section 2.4.1).
    static let secp256k1 = bytes("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
    /// The order L of the base point of edwards25519 (RFC 8032 section 5.1).
    static let ed25519 = bytes("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed")

    private static func bytes(_ hex: String) -> [UInt8] {
        var rest = hex.utf8[...]
        var result: [UInt8] = []
        while let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
            result.append(byte)
            rest = rest.dropFirst(2)
        }
        return result
    }
}
