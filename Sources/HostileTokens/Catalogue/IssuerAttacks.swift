import Encodings

/// J24: another issuer under the same key, also with similar names.
enum IssuerAttacks {
    static let all: [Attack] =
        fixed.map { name, raw in
            attack(name, "iss \(raw ?? "left out")") { _ in .some(raw) }
        } + derived

    private static let fixed: [(name: String, raw: String?)] = [
        ("missing", nil), ("null", "null"), ("empty", #""""#), ("number", "1"),
        ("other", #""https://attacker.invalid""#),
    ]

    /// Values made from the target's issuer, for verifiers that compare a prefix, a part, or a normalised URL.
    private static let derived: [Attack] = [
        attack("slash", "our iss and a slash") { RawJSON.quoted($0 + "/") },
        attack("suffix", "our iss and more") { RawJSON.quoted($0 + ".attacker.invalid") },
        attack("userinfo", "our iss as user information") { RawJSON.quoted($0 + "@attacker.invalid") },
        attack("prefix", "all of our iss but its last letter") { RawJSON.quoted(String($0.dropLast())) },
        attack("substring", "the middle of our iss") { RawJSON.quoted(String($0.dropFirst(3).dropLast(1))) },
        attack("array", "our iss in an array") { "[\(RawJSON.quoted($0))]" },
        attack("array-first", "our iss in an array, after another") { "[\"x\",\(RawJSON.quoted($0))]" },
        attack("object", "our iss as a member's name") { "{\(RawJSON.quoted($0)):1}" },
        attack("space", "a space before our iss") { RawJSON.quoted(" " + $0) },
        attack("port", "our iss and a port") { RawJSON.quoted($0 + ":443") },
        attack("case", "our iss in capitals") { issuer in
            let capitals = issuer.uppercased()
            return capitals.utf8.elementsEqual(issuer.utf8) ? nil : RawJSON.quoted(capitals)
        },
        attack("unicode-dot", "our iss with an ideographic full stop") { issuer in
            issuer.contains(".") ? RawJSON.quoted(issuer.replacing(".", with: "\u{3002}")) : nil
        },
    ]

    /// A token of the trusted signer with another `iss`.
    ///
    /// - Parameter raw: makes the JSON of the claim from the valid token's issuer: `.some(nil)` leaves the claim out,
    ///   and nil means that the attack does not apply.
    private static func attack(
        _ name: String, _ title: String, _ raw: @escaping @Sendable (String) -> String??
    ) -> Attack {
        Attack(
            id: "J24-iss-\(name)", title: title, reference: "RFC 8725 §3.8, CVE-2024-53861, CVE-2025-30144",
            category: .issuer, mode: .signed
        ) { material in
            guard let issuer = material.claims["iss"]?.stringValue, let raw = raw(issuer) else { return nil }
            return .token(try material.signed(claimChanges: [("iss", raw)]))
        }
    }
}
