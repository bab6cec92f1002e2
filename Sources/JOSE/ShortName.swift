/// A name of three bytes as one number, so that a registered name is recognised with one comparison.
struct ShortName: Equatable {
    private let packed: UInt32

    init?(_ name: String) {
        guard name.utf8.count == 3 else { return nil }
        var name = name
        packed = name.withUTF8 { UInt32($0[0]) << 16 | UInt32($0[1]) << 8 | UInt32($0[2]) }
    }

    /// A name that was packed when the JSON was read; nil for 0, which stands for names of any other length.
    init?(packed: UInt32) {
        guard packed != 0 else { return nil }
        self.packed = packed
    }

    private init(_ a: Unicode.Scalar, _ b: Unicode.Scalar, _ c: Unicode.Scalar) {
        packed = a.value << 16 | b.value << 8 | c.value
    }

    static let algorithm = ShortName("a", "l", "g")
    static let keyID = ShortName("k", "i", "d")
    static let type = ShortName("t", "y", "p")
    static let contentType = ShortName("c", "t", "y")
    static let unencodedPayload = ShortName("b", "6", "4")
    static let issuer = ShortName("i", "s", "s")
    static let subject = ShortName("s", "u", "b")
    static let audience = ShortName("a", "u", "d")
    static let expiresAt = ShortName("e", "x", "p")
    static let notBefore = ShortName("n", "b", "f")
    static let issuedAt = ShortName("i", "a", "t")
    static let tokenID = ShortName("j", "t", "i")
}
