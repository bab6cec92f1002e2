/// J19: another kind of token with a valid signature. Only for targets whose own tokens have a specific `typ`.
enum TypeAttacks {
    static let all: [Attack] =
        refused.map { attack($0, $1, .tokenRefused) } + accepted.map { attack($0, $1, .accepted) }

    /// A token of another kind, signed with the same key, must not pass as an access token (RFC 9068 section 4).
    private static let refused: [(name: String, raw: String?)] = [
        ("absent", nil), ("jwt", #""JWT""#), ("id-token", #""id_token+jwt""#), ("logout", #""logout+jwt""#),
        ("dpop", #""dpop+jwt""#), ("security-event", #""secevent+jwt""#), ("refresh", #""refresh+jwt""#),
        ("ticket", #""gatehouse-ticket+jwt""#), ("assertion", #""gatehouse-assertion+jwt""#),
        ("contract", #""gatehouse-contract+jwt""#), ("longer", #""at+jwtx""#), ("shorter", #""at+jw""#),
        ("other-tree", #""x/at+jwt""#), ("twice", #""application/application/at+jwt""#),
        ("parameter", #""at+jwt;x=1""#),
        ("space", #""at+jwt ""#), ("nul", #""at+jwt\u0000""#), ("empty", #""""#), ("null", "null"), ("number", "1"),
        ("array", #"["at+jwt"]"#),
    ]

    /// Media types are compared without regard to case, and `application/` may be left out (RFC 7515 section 4.1.9).
    private static let accepted: [(name: String, raw: String?)] = [
        ("application", #""application/at+jwt""#), ("capitals", #""AT+JWT""#),
    ]

    private static func attack(_ name: String, _ raw: String?, _ expectation: Expectation) -> Attack {
        Attack(
            id: "J19-typ-\(name)", title: "typ \(raw ?? "left out")", reference: "RFC 9068 §4, RFC 8725 §3.11",
            category: .type, mode: .signed, expectation: expectation
        ) { material in
            guard material.type?.lowercased() == "at+jwt" else { return nil }
            return .token(try material.signed(headerChanges: [("typ", raw)]))
        }
    }
}
