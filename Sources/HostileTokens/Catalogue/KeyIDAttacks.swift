import Encodings
import JOSE

/// J07: a `kid` that is a path, a query, a command, or otherwise not the name of a key.
enum KeyIDAttacks {
    static let all: [Attack] = forgedOnes.map(forged) + signedOnes.map(signed) + wrongTypes

    private struct Name: Sendable {
        let name: String
        let keyID: String
        var secret: [UInt8] = []
    }

    /// Signed by HMAC with the content that the named place would have.
    private static let forgedOnes = [
        Name(name: "empty", keyID: ""),
        Name(name: "unknown", keyID: "no-such-key"),
        Name(name: "dev-null", keyID: "/dev/null"),
        Name(name: "traversal-dev-null", keyID: "../../../../../../dev/null"),
        Name(name: "traversal-encoded", keyID: "..%2f..%2f..%2f..%2fdev%2fnull"),
        Name(name: "randomize-va-space", keyID: "/proc/sys/kernel/randomize_va_space", secret: Array("2\n".utf8)),
        Name(name: "sql", keyID: "x' UNION SELECT 'x'-- ", secret: Array("x".utf8)),
        Name(name: "sql-or", keyID: "' OR '1'='1"),
        Name(name: "pipe", keyID: "|sleep 10"),
        Name(name: "command", keyID: "$(sleep 10)"),
        Name(name: "url", keyID: "https://attacker.invalid/key"),
        Name(name: "crlf", keyID: "x\r\nX-Injected: 1"),
        Name(name: "nul", keyID: "x\u{0}"),
        Name(name: "long", keyID: String(repeating: "k", count: 3_000)),
        Name(name: "prototype", keyID: "__proto__"),
    ]

    /// Signed by the trusted signer, under a name that is similar to its own.
    private static let signedOnes: [(name: String, change: @Sendable (String) -> String?)] = [
        ("empty", { _ in "" }), ("unknown", { _ in "no-such-key" }), ("space", { $0 + " " }), ("nul", { $0 + "\u{0}" }),
        ("slash", { "./" + $0 }), ("prefix", { String($0.dropLast()) }),
        (
            "case",
            { keyID in
                let other = keyID.uppercased().utf8.elementsEqual(keyID.utf8) ? keyID.lowercased() : keyID.uppercased()
                return other.utf8.elementsEqual(keyID.utf8) ? nil : other
            }
        ),
    ]

    /// Tokens under HMAC with the content of the file, row or answer that an unchecked `kid` could lead to.
    private static func forged(_ name: Name) -> Attack {
        attack("J07-forged-\(name.name)", "kid as \(name.name), signed with what it might lead to", .blackBox) {
            try $0.forged(secret: name.secret, .hs256, keyID: name.keyID)
        }
    }

    /// A token that is valid but for its `kid`, which no key has. A verifier that trims, folds case or matches the
    /// beginning finds the key nevertheless.
    private static func signed(_ name: (name: String, change: @Sendable (String) -> String?)) -> Attack {
        attack("J07-signed-\(name.name)", "a right signature, its kid changed (\(name.name))", .signed) { material in
            guard let keyID = try material.trusted().keyID, let changed = name.change(keyID) else { return nil }
            return try material.signed(headerChanges: [("kid", RawJSON.quoted(changed))])
        }
    }

    /// A `kid` must be a string (RFC 7515 section 4.1.4).
    private static let wrongTypes: [Attack] = ["1", "[]", "{}", "null"].map { raw in
        attack("J07-type-\(typeNames[raw] ?? "other")", "a right signature, its kid \(raw)", .signed) {
            try $0.signed(headerChanges: [("kid", raw)])
        }
    }

    /// How the raw values are called in the ids of the cases.
    private static let typeNames = ["1": "number", "[]": "array", "{}": "object", "null": "null"]

    private static func attack(
        _ id: String, _ title: String, _ mode: AttackMode,
        _ token: @escaping @Sendable (AttackMaterial) throws -> [UInt8]?
    ) -> Attack {
        Attack(id: id, title: title, reference: "RFC 8725 §3.10, RFC 7515 §4.1.4", category: .keyID, mode: mode) {
            try token($0).map(Payload.token)
        }
    }
}
