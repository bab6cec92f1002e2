/// J26: tokens that are too large, which should be refused before they are parsed.
enum SizeAttacks {
    static let all: [Attack] = [
        attack("8k-signed", "a right token of more than 8 KiB", .signed) { material in
            try material.signed(claimChanges: [("x", RawJSON.quoted(String(repeating: "x", count: 6_200)))])
        },
        attack("8k-members", "a right token with 1,500 claims", .signed) { material in
            let members = (0..<1_500).map { (name: "m\($0)", raw: Optional("0")) }
            return try material.signed(claimChanges: members)
        },
        attack("8k-audiences", "a right token with 3,000 audiences", .signed) { material in
            guard let audience = material.audience else { return nil }
            let many = Array(repeating: #""a""#, count: 3_000) + [RawJSON.quoted(audience)]
            return try material.signed(claimChanges: [("aud", "[" + many.joined(separator: ",") + "]")])
        },
        attack("8k", "8 KiB and one byte") { _ in filled(8 * 1024 + 1) },
        attack("64k", "64 KiB") { _ in filled(64 * 1024) },
        attack("1m", "1 MiB") { _ in filled(1024 * 1024) },
        attack("signature-64k", "the good token with a signature of 64 KiB") {
            $0.token(signature: Bytes.zeros(64 * 1024))
        },
        attack("100000-dots", "a hundred thousand dots") { _ in [UInt8](repeating: UInt8(ascii: "."), count: 100_000) },
    ]

    /// A text that begins and ends like a token.
    private static func filled(_ count: Int) -> [UInt8] {
        Array("eyJhbGciOiJFUzI1NiJ9.".utf8) + [UInt8](repeating: UInt8(ascii: "A"), count: max(0, count - 24))
            + Array(".AA".utf8)
    }

    /// A token that must be refused, or whose connection may be ended.
    ///
    /// - Parameter token: makes it; nil if the valid token has no audience to repeat.
    private static func attack(
        _ name: String, _ title: String, _ mode: AttackMode = .blackBox,
        _ token: @escaping @Sendable (AttackMaterial) throws -> [UInt8]?
    ) -> Attack {
        Attack(
            id: "J26-size-\(name)", title: title, reference: "RFC 9110 §15.5.15, RFC 6585 §5", category: .size,
            mode: mode, expectation: .sizeRefused
        ) { try token($0).map(Payload.token) }
    }
}
