import Encodings

/// J15: a name twice. Parsers differ about which one counts, so neither may.
enum DuplicateAttacks {
    static let all: [Attack] = claimNames.flatMap(claimAttacks) + headerNames.flatMap(headerAttacks)

    /// Claims, each with a value that must not count.
    private static let claimNames: [(name: String, bad: String)] = [
        ("exp", "1"), ("sub", #""usr_AAAAAAAAAAAAAAAAAAAAAA""#), ("aud", #""somebody-else""#),
        ("iss", #""https://attacker.invalid""#), ("jti", #""another""#), ("nbf", "9999999999"),
    ]

    private static let headerNames: [(name: String, bad: String)] = [
        ("alg", #""none""#), ("kid", #""no-such-key""#), ("typ", #""JWT""#),
    ]

    private static func claimAttacks(_ claim: (name: String, bad: String)) -> [Attack] {
        let (name, bad) = claim
        return variants(name, bad, value: { $0.claimText(name) }, text: { $0.freshClaims() }) {
            try $0.signed(payload: Array($1.utf8))
        }
    }

    private static func headerAttacks(_ member: (name: String, bad: String)) -> [Attack] {
        let (name, bad) = member
        return variants(
            name, bad,
            value: { try StrictJSON.object($0.signedHeader())[name]?.serialized() }, text: { try $0.signedHeader() }
        ) {
            try $0.signed(header: Array($1.utf8))
        }
    }

    private static func variants(
        _ name: String, _ bad: String,
        value: @escaping @Sendable (AttackMaterial) throws -> String?,
        text: @escaping @Sendable (AttackMaterial) throws -> String,
        sign: @escaping @Sendable (AttackMaterial, String) throws -> [UInt8]
    ) -> [Attack] {
        [
            attack("\(name)-same", "\(name) twice with one value") { material in
                guard let good = try value(material) else { return nil }
                return try sign(material, RawJSON.appending(RawJSON.member(name, good), to: text(material)))
            },
            attack("\(name)-good-first", "\(name) twice, the good value first") { material in
                guard try value(material) != nil else { return nil }
                return try sign(material, RawJSON.appending(RawJSON.member(name, bad), to: text(material)))
            },
            attack("\(name)-good-last", "\(name) twice, the good value last") { material in
                guard try value(material) != nil else { return nil }
                return try sign(material, RawJSON.prepending(RawJSON.member(name, bad), to: text(material)))
            },
            attack("\(name)-escaped", "\(name) twice, once with its first letter as an escape") { material in
                guard let good = try value(material), let first = name.utf8.first else { return nil }
                let escaped = "\"\\u00" + String(first, radix: 16) + name.dropFirst() + "\":" + good
                return try sign(material, RawJSON.appending(escaped, to: text(material)))
            },
        ]
    }

    private static func attack(
        _ name: String, _ title: String, _ token: @escaping @Sendable (AttackMaterial) throws -> [UInt8]?
    ) -> Attack {
        Attack(
            id: "J15-duplicate-\(name)", title: title, reference: "RFC 7519 §4, RFC 7515 §4", category: .duplicates,
            mode: .signed
        ) { try token($0).map(Payload.token) }
    }
}

extension AttackMaterial {
    /// The JSON of a claim in a fresh token.
    func claimText(_ name: String) -> String? {
        guard case .success(let claims) = Result(catching: { try StrictJSON.object(freshClaims()) }) else { return nil }
        return claims[name]?.serialized()
    }
}
