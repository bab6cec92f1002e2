import Encodings

/// J14: more or fewer than three segments.
enum SegmentAttacks {
    /// Black box: nothing but the valid token is needed. A target that cuts at the first and the last dot, or takes the
    /// first three pieces, accepts some of them; one that splits without a limit spends memory on the many dots
    /// (CVE-2025-30204). Without any token the refusal may be that of a missing credential.
    static let all: [Attack] = [
        attack("none", "no token at all", .credentialRefused) { _ in [] },
        attack("one", "the header alone") { $0.segments.header },
        attack("four", "a fourth segment") { $0.goodToken + Array(".AA".utf8) },
        attack("five", "a fourth and a fifth segment") { $0.goodToken + Array(".AA.AA".utf8) },
        attack("leading-dot", "a dot before the token") { Array(".".utf8) + $0.goodToken },
        attack("trailing-dot", "a dot after the token") { $0.goodToken + Array(".".utf8) },
        attack("empty-header", "an empty header") {
            AttackMaterial.joined([], $0.segments.payload, $0.segments.signature)
        },
        attack("empty-payload", "an empty payload") {
            AttackMaterial.joined($0.segments.header, [], $0.segments.signature)
        },
        attack("dots", "two dots and nothing else") { _ in Array("..".utf8) },
        attack("many-dots", "five thousand dots") { _ in [UInt8](repeating: UInt8(ascii: "."), count: 5_000) },
        attack("many-dots-after", "the token and a thousand dots") {
            $0.goodToken + [UInt8](repeating: UInt8(ascii: "."), count: 1_000)
        },
        attack("twice", "the token twice with a dot between") { $0.goodToken + Array(".".utf8) + $0.goodToken },
        attack("comma", "the token twice with a comma between") { $0.goodToken + Array(",".utf8) + $0.goodToken },
    ]

    /// - Parameters:
    ///   - expectation: which refusal counts; that of an invalid token unless no token is sent.
    ///   - token: the bytes that are sent in place of a token.
    private static func attack(
        _ name: String, _ title: String, _ expectation: Expectation = .tokenRefused,
        _ token: @escaping @Sendable (AttackMaterial) -> [UInt8]
    ) -> Attack {
        Attack(
            id: "J14-segments-\(name)", title: title, reference: "RFC 7515 §3.1, CVE-2025-30204", category: .segments,
            expectation: expectation
        ) { .token(token($0)) }
    }
}
