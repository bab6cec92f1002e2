import Encodings

/// J21: `exp` missing, of another type, in the past, or out of range.
enum ExpiryAttacks {
    static let all: [Attack] =
        fixed.map { name, raw in
            attack(name, "exp \(raw.map { $0.count > 40 ? "of 400 digits" : $0 } ?? "left out")") { _ in [("exp", raw)]
            }
        } + relative

    /// Values that are no date in the near future: another type, the past, or a number that overflows; nil leaves `exp`
    /// out.
    private static let fixed: [(name: String, raw: String?)] = [
        ("missing", nil), ("null", "null"), ("string", #""9999999999""#), ("true", "true"), ("array", "[9999999999]"),
        ("object", "{}"), ("negative", "-1"), ("zero", "0"), ("one", "1"), ("1e309", "1e309"), ("1e400", "1e400"),
        ("minus-1e309", "-1e309"), ("2-53-plus-1", "9007199254740993"), ("2-63", "9223372036854775808"),
        ("2-64", "18446744073709551616"), ("9e18", "9000000000000000000"),
        ("many-digits", "1" + String(repeating: "0", count: 400)),
    ]

    private static let relative: [Attack] = [
        past("past-an-hour", "exp an hour ago", 3_600),
        // Verifiers allow a leeway of at most one minute.
        past("past-two-minutes", "exp two minutes ago", 120),
        attack("milliseconds", "exp in milliseconds") { [("exp", String($0.freshExpiry) + "000")] },
        attack("fraction", "exp with a fraction, still to come", .accepted) {
            [("exp", String($0.freshExpiry - 1) + ".5")]
        },
    ]

    /// All dates are moved together, so that only `exp` can be the reason for a refusal.
    private static func past(_ name: String, _ title: String, _ seconds: Int64) -> Attack {
        attack(name, title) { material in
            let expiry = material.now - seconds
            let issued = String(expiry - 60)
            let dates: [(name: String, raw: String?)] = [("exp", String(expiry)), ("iat", issued)]
            return material.claims["nbf"] == nil ? dates : dates + [("nbf", issued)]
        }
    }

    /// A token of the trusted signer with another `exp`.
    ///
    /// - Parameter changes: makes the claims that differ from those of a fresh token.
    private static func attack(
        _ name: String, _ title: String, _ expectation: Expectation = .tokenRefused,
        _ changes: @escaping @Sendable (AttackMaterial) -> [(name: String, raw: String?)]
    ) -> Attack {
        Attack(
            id: "J21-exp-\(name)", title: title, reference: "RFC 7519 §2, §4.1.4, CVE-2026-25537", category: .time,
            mode: .signed, expectation: expectation
        ) { .token(try $0.signed(claimChanges: changes($0))) }
    }
}
