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
