import Encodings

/// J15: a member name that occurs twice. Parsers differ in which value they use, so the token must be refused.
enum DuplicateAttacks {
    /// Under a valid signature. RFC 7519 section 4 allows a parser to take the last of two claims; a verifier and the
    /// service behind it may then read different values, so a strict one refuses both orders.
    static let all: [Attack] =
        claimNames.flatMap { variants($0, payload) } + headerNames.flatMap { variants($0, header) }

    /// Claims, each with a value that must not be used.
    private static let claimNames: [(name: String, bad: String)] = [
        ("exp", "1"), ("sub", #""usr_AAAAAAAAAAAAAAAAAAAAAA""#), ("aud", #""somebody-else""#),
        ("iss", #""https://attacker.invalid""#), ("jti", #""another""#), ("nbf", "9999999999"),
    ]

    private static let headerNames: [(name: String, bad: String)] = [
        ("alg", #""none""#), ("kid", #""no-such-key""#), ("typ", #""JWT""#),
    ]

    /// The header or the payload of a token: its text, and how a token with another text is made.
    private struct Part: Sendable {
        let text: @Sendable (AttackMaterial) throws -> String
        let signed: @Sendable (AttackMaterial, String) throws -> [UInt8]
    }

    private static let payload = Part(
        text: { $0.freshClaims() }, signed: { try $0.signed(payload: Array($1.utf8)) })

    private static let header = Part(
        text: { try $0.signedHeader() }, signed: { try $0.signed(header: Array($1.utf8)) })

    /// Four tokens: the member twice with one value, with a bad value last or first, and once spelled with an escape.
    private static func variants(_ member: (name: String, bad: String), _ part: Part) -> [Attack] {
        let (name, bad) = member
        return [
            attack("\(name)-same", "\(name) twice with one value", part, name) { text, good in
                RawJSON.appending(RawJSON.member(name, good), to: text)
            },
            attack("\(name)-good-first", "\(name) twice, the good value first", part, name) { text, _ in
                RawJSON.appending(RawJSON.member(name, bad), to: text)
            },
            attack("\(name)-good-last", "\(name) twice, the good value last", part, name) { text, _ in
                RawJSON.prepending(RawJSON.member(name, bad), to: text)
            },
            attack("\(name)-escaped", "\(name) twice, once with its first letter as an escape", part, name) {
                text, good in
                RawJSON.appending("\"" + RawJSON.escapedFirst(name) + "\":" + good, to: text)
            },
        ]
    }

    /// - Parameters:
    ///   - name: the member that is there twice. A token without it leaves nothing to try.
    ///   - change: the JSON text with the second member, from the text and the raw value that is right.
    private static func attack(
        _ id: String, _ title: String, _ part: Part, _ name: String,
        _ change: @escaping @Sendable (_ text: String, _ good: String) -> String
    ) -> Attack {
        Attack(
            id: "J15-duplicate-\(id)", title: title, reference: "RFC 7519 §4, RFC 7515 §4", category: .duplicates,
            mode: .signed
        ) { material in
            let text = try part.text(material)
            guard let good = try StrictJSON.object(text)[name]?.serialized() else { return nil }
            return .token(try part.signed(material, change(text, good)))
        }
    }
}
