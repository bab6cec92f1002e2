import Encodings

/// J23: tokens for another audience, also with similar names.
enum AudienceAttacks {
    static let all: [Attack] =
        fixed.map { name, raw in
            attack(name, "aud \(raw ?? "left out")") { _ in .some(raw) }
        } + derived

    /// Values that no target has as its audience; nil leaves the claim out.
    private static let fixed: [(name: String, raw: String?)] = [
        ("missing", nil), ("null", "null"), ("empty", #""""#), ("empty-array", "[]"), ("number", "1"), ("true", "true"),
        ("other", #""somebody-else""#), ("star", #""*""#), ("array-null", "[null]"),
        ("array-other", #"["somebody-else"]"#),
    ]

    /// Values made from the target's audience. It must be compared whole, as a string or as a member of an array of
    /// strings.
    private static let derived: [Attack] = [
        attack("array-nested", "our aud within an array within an array") { "[[\(RawJSON.quoted($0))]]" },
        attack("object-key", "our aud as a member's name") { "{\(RawJSON.quoted($0)):1}" },
        attack("array-mixed", "our aud beside a number") { "[\(RawJSON.quoted($0)),1]" },
        attack("prefix", "all of our aud but its last letter") { RawJSON.quoted(String($0.dropLast())) },
        attack("suffix", "our aud and a letter more") { RawJSON.quoted($0 + "x") },
        attack("slash", "our aud and a slash") { RawJSON.quoted($0 + "/") },
        attack("space", "our aud and a space") { RawJSON.quoted($0 + " ") },
        attack("within", "our aud among others in one string") { RawJSON.quoted("other \($0) another") },
        attack("comma", "our aud and another with a comma") { RawJSON.quoted($0 + ",other") },
        attack("case", "our aud in capitals") { audience in
            let capitals = audience.uppercased()
            return capitals.utf8.elementsEqual(audience.utf8) ? nil : RawJSON.quoted(capitals)
        },
        attack("array-member", "our aud among others in an array", .accepted) {
            "[\"somebody-else\",\(RawJSON.quoted($0))]"
        },
        attack("single-string", "our aud as a string", .accepted) { RawJSON.quoted($0) },
    ]

    /// A token of the trusted signer with another `aud`. It does not apply where the valid token has that very value.
    ///
    /// - Parameter raw: makes the JSON of the claim from the valid token's first audience: `.some(nil)` leaves the
    ///   claim out, and nil means that the attack does not apply.
    private static func attack(
        _ name: String, _ title: String, _ expectation: Expectation = .tokenRefused,
        _ raw: @escaping @Sendable (String) -> String??
    ) -> Attack {
        Attack(
            id: "J23-aud-\(name)", title: title, reference: "RFC 7519 §4.1.3, RFC 8725 §3.9", category: .audience,
            mode: .signed, expectation: expectation
        ) { material in
            guard let audience = material.audience, let raw = raw(audience) else { return nil }
            // The value that the valid token has is no attack.
            guard raw != material.claims["aud"]?.serialized() else { return nil }
            return .token(try material.signed(claimChanges: [("aud", raw)]))
        }
    }
}
