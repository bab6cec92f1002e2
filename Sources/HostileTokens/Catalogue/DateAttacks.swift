import Encodings

/// J22: `nbf` and `iat` in the future, of another type, or after `exp`.
enum DateAttacks {
    static let all: [Attack] = [
        attack("nbf-future", "nbf in two minutes") { [("nbf", String($0.now + 120))] },
        attack("nbf-string", "nbf as a string") { [("nbf", #""\#($0.now - 60)""#)] },
        attack("nbf-future-string", "nbf tomorrow, as a string") { [("nbf", #""\#($0.now + 86_400)""#)] },
        attack("nbf-negative", "nbf negative") { _ in [("nbf", "-1")] },
        attack("nbf-null", "nbf null") { _ in [("nbf", "null")] },
        attack("nbf-array", "nbf as an array") { [("nbf", "[\($0.now - 60)]")] },
        attack("nbf-after-exp", "nbf after exp") { [("nbf", String($0.freshExpiry + 1))] },
        attack("iat-future", "iat in two minutes") { [("iat", String($0.now + 120))] },
        attack("iat-string", "iat as a string") { [("iat", #""\#($0.now - 60)""#)] },
        attack("iat-null", "iat null") { _ in [("iat", "null")] },
        attack("iat-object", "iat as an object") { _ in [("iat", "{}")] },
        attack("iat-after-exp", "iat after exp") { [("iat", String($0.freshExpiry + 1))] },
        attack("iat-missing", "iat left out", ifSaid: "iat") { _ in [("iat", nil)] },
    ]

    /// A token of the trusted signer with other dates. Dates to come lie two minutes ahead, beyond the usual leeway, or
    /// after `exp`.
    ///
    /// - Parameters:
    ///   - claim: a claim that the valid token must have and its kind require, or the attack does not apply; nil for
    ///     none.
    ///   - changes: makes the claims that differ from those of a fresh token.
    private static func attack(
        _ name: String, _ title: String, ifSaid claim: String? = nil,
        _ changes: @escaping @Sendable (AttackMaterial) -> [(name: String, raw: String?)]
    ) -> Attack {
        Attack(
            id: "J22-\(name)", title: title, reference: "RFC 7519 §4.1.5, §4.1.6, RFC 9068 §2.2", category: .time,
            mode: .signed
        ) { material in
            if let claim, !material.isAccessToken || material.claims[claim] == nil { return nil }
            return .token(try material.signed(claimChanges: changes(material)))
        }
    }
}

extension AttackMaterial {
    /// Whether the target's tokens declare by `typ` that they follow RFC 9068 and so have the claims that it requires.
    var isAccessToken: Bool {
        guard let type = type?.lowercased() else { return false }
        return type == "at+jwt" || type == "application/at+jwt"
    }
}
