import Encodings

/// J17: bytes that are not UTF-8, lone surrogates, and names and values that only look the same.
enum TextAttacks {
    /// Under a valid signature. A verifier that repairs a text, or compares it after normalisation, takes a name for
    /// another one that no issuer has given.
    static let all: [Attack] =
        invalid.map { name, bytes in
            attack("utf8-\(name)", "a claim with bytes that are no UTF-8 (\(name))") { material in
                let text = RawJSON.appending(#""x":"#, to: material.freshClaims()).utf8.dropLast()
                let quote = [UInt8(ascii: "\"")]
                return try material.signed(payload: text + quote + bytes + quote + [UInt8(ascii: "}")])
            }
        } + surrogates + lookalikes

    /// Bytes that RFC 3629 excludes: a parser that replaces them lets two different texts become one.
    private static let invalid: [(String, [UInt8])] = [
        ("overlong", [0xC0, 0xAF]), ("surrogate", [0xED, 0xA0, 0x80]), ("too-high", [0xF5, 0x80, 0x80, 0x80]),
        ("lone-continuation", [0x80]), ("cut-short", [0xE2, 0x82]), ("ff", [0xFF]),
    ]

    /// Escapes of half a character. RFC 8259 section 8.2 leaves open what they mean, so they are refused.
    private static let surrogates: [Attack] = [
        ("high", #""\ud800""#), ("low", #""\udc00""#), ("reversed", #""\udc00\ud800""#),
        ("high-high", #""\ud800\ud800""#),
    ].map { name, raw in
        attack("surrogate-\(name)", "a claim with a lone surrogate (\(name))") {
            try $0.signed(claimChanges: [("x", raw)])
        }
    }

    /// A name or value that only resembles the right one. Names are compared code point by code point, without
    /// normalisation (RFC 7515 section 5.3).
    private static let lookalikes: [Attack] = [
        attack("exp-nul", #"exp only under the name "exp\u0000""#) { material in
            try material.signed(claimChanges: [("exp", nil), ("exp\u{0}", String(material.freshExpiry))])
        },
        attack("exp-fullwidth", "exp only under its name in full-width letters") { material in
            try material.signed(claimChanges: [
                ("exp", nil), ("\u{FF45}\u{FF58}\u{FF50}", String(material.freshExpiry)),
            ])
        },
        attack("exp-capitals", "exp only in capitals") { material in
            try material.signed(claimChanges: [("exp", nil), ("EXP", String(material.freshExpiry))])
        },
        attack("aud-nul", "our aud with a NUL after it") { try audience($0) { $0 + "\u{0}" } },
        attack("aud-nul-more", "our aud with a NUL and more after it") { try audience($0) { $0 + "\u{0}.attacker" } },
        attack("aud-zero-width", "our aud with a zero-width space after it") { try audience($0) { $0 + "\u{200B}" } },
        attack("aud-fullwidth", "our aud in full-width letters") { try audience($0, fullWidth) },
        attack("aud-soft-hyphen", "our aud with a soft hyphen in it") { try audience($0) { "\u{AD}" + $0 } },
        attack("iss-nul", "our iss with a NUL after it") { material in
            guard let issuer = material.claims["iss"]?.stringValue else { return nil }
            return try material.signed(claimChanges: [("iss", RawJSON.quoted(issuer + "\u{0}"))])
        },
        attack("aud-kelvin", "our aud with a letter that is only canonically the same") { material in
            // The Kelvin sign is canonically equivalent to K, so this needs an audience with a K.
            guard let audience = material.audience, audience.contains("K") else { return nil }
            let twin = audience.replacing("K", with: "\u{212A}")
            return try material.signed(claimChanges: [("aud", RawJSON.quoted(twin))])
        },
    ]

    /// A token for an audience that is changed so.
    ///
    /// - Returns: nil where the valid token has no audience.
    private static func audience(_ material: AttackMaterial, _ change: (String) -> String) throws -> [UInt8]? {
        guard let audience = material.audience else { return nil }
        return try material.signed(claimChanges: [("aud", RawJSON.quoted(change(audience)))])
    }

    /// The text with its ASCII letters replaced by the full-width forms that NFKC makes equal to them.
    private static func fullWidth(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            let isVisibleASCII = scalar.value > 0x20 && scalar.value < 0x7F
            result.unicodeScalars.append(isVisibleASCII ? Unicode.Scalar(scalar.value + 0xFEE0) ?? scalar : scalar)
        }
        return result
    }

    private static func attack(
        _ name: String, _ title: String, _ token: @escaping @Sendable (AttackMaterial) throws -> [UInt8]?
    ) -> Attack {
        Attack(
            id: "J17-\(name)", title: title, reference: "RFC 8259 §8, RFC 7515 §10.12", category: .text, mode: .signed
        ) { try token($0).map(Payload.token) }
    }
}
