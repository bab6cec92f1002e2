/// J21: `exp` missing, of another type, past, or absurd.
enum ExpiryAttacks {
    static let all: [Attack] = fixed.map { name, raw in
        attack(name, "exp \(raw ?? "left out")", .tokenRefused) { _ in .some(raw) }
    } + relative

    private static let fixed: [(name: String, raw: String?)] = [
        ("missing", nil), ("null", "null"), ("string", #""9999999999""#), ("true", "true"), ("array", "[9999999999]"),
        ("object", "{}"), ("negative", "-1"), ("zero", "0"), ("one", "1"), ("1e309", "1e309"), ("1e400", "1e400"),
        ("minus-1e309", "-1e309"), ("2-53-plus-1", "9007199254740993"), ("2-63", "9223372036854775808"),
        ("2-64", "18446744073709551616"), ("9e18", "9000000000000000000"),
        ("many-digits", "1" + String(repeating: "0", count: 400)),
    ]

    private static let relative: [Attack] = [
        attack("past-an-hour", "exp an hour ago", .tokenRefused) { String($0.now - 3_600) },
        // The longest leeway that RFC 8725 and the like allow is one minute.
        attack("past-two-minutes", "exp two minutes ago", .tokenRefused) { String($0.now - 120) },
        attack("milliseconds", "exp in milliseconds", .tokenRefused) { String($0.freshExpiry) + "000" },
        attack("fraction", "exp with a fraction, still to come", .accepted) { String($0.freshExpiry - 1) + ".5" },
    ]

    private static func attack(
        _ name: String, _ title: String, _ expectation: Expectation,
        _ raw: @escaping @Sendable (AttackMaterial) -> String?
    ) -> Attack {
        Attack(
            id: "J21-exp-\(name)", title: title, reference: "RFC 7519 §2, §4.1.4, CVE-2026-25537", category: .time,
            mode: .signed, expectation: expectation
        ) { material in
            // All dates move together, so that nothing but exp can be what is refused.
            let issued = String(material.now - 7_200)
            let isPast = name.hasPrefix("past")
            var changes: [(name: String, raw: String?)] = [("exp", raw(material))]
            if isPast {
                changes.append(("iat", issued))
                if material.claims["nbf"] != nil { changes.append(("nbf", issued)) }
            }
            return .token(try material.signed(claimChanges: changes))
        }
    }
}
