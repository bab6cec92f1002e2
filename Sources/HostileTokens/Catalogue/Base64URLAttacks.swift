import Encodings

/// J13: encodings that only a lenient base64url decoder accepts. A token must have exactly one encoding.
enum Base64URLAttacks {
    static let all: [Attack] = bySignature + bySigning

    // MARK: In the signature, which is itself not signed

    /// The signature does not cover its own text, so an attacker can respell it without a key.
    private static let bySignature: [Attack] =
        [
            attack("signature-padded", "the signature with =", .blackBox) { material in
                let text = String(decoding: material.segments.signature, as: UTF8.self)
                let padded = StandardBase64.padded(text)
                return padded == text ? nil : material.token(signatureText: Array(padded.utf8))
            },
            attack("signature-one-equals", "one = after the signature", .blackBox) {
                $0.goodToken + [UInt8(ascii: "=")]
            },
            attack("signature-alphabet", "the signature in the alphabet with + and /", .blackBox) { material in
                let text = StandardBase64.alphabet(material.segments.signature)
                return text == material.segments.signature ? nil : material.token(signatureText: text)
            },
            attack(
                "signature-unused-bits", "the bits set that the last letter of the signature does not use", .blackBox
            ) {
                material in
                withUnusedBits(material.segments.signature).map { material.token(signatureText: $0) }
            },
            attack("signature-length", "one letter too many in the signature", .blackBox) { material in
                // The added letters make the length one more than a multiple of four, which no encoding has.
                let text = material.segments.signature
                let missing = (4 - text.count % 4) % 4
                return material.token(signatureText: text + [UInt8](repeating: UInt8(ascii: "A"), count: missing + 1))
            },
        ]
        + inserted.map { name, byte in
            attack("signature-\(name)", "a \(name) within the signature", .blackBox) { material in
                let text = material.segments.signature
                let middle = text.count / 2
                return material.token(signatureText: text[..<middle] + [byte] + text[middle...])
            }
        }

    private static let inserted: [(String, UInt8)] = [
        ("space", 0x20), ("tab", 0x09), ("question-mark", 0x3F), ("tilde", 0x7E), ("high-byte", 0xC1),
        ("equals", 0x3D),
    ]

    // MARK: In header and payload, with a valid signature

    /// The signature covers these texts as they are: only a strict decoder can refuse them.
    private static let bySigning: [Attack] = Part.allCases.flatMap { part in
        [
            signed(part, "padded", "with =") { unpadded, _ in
                let text = String(decoding: unpadded, as: UTF8.self)
                let padded = StandardBase64.padded(text)
                return padded == text ? nil : Array(padded.utf8)
            },
            signed(part, "alphabet", "in the alphabet with + and /") { text, _ in
                let other = StandardBase64.alphabet(text)
                return other == text ? nil : other
            },
            signed(part, "unused-bits", "with its unused bits set") { text, _ in withUnusedBits(text) },
            signed(part, "length", "of an impossible length") { text, _ in
                text.count % 4 == 0 ? text + [UInt8(ascii: "A")] : nil
            },
            signed(part, "space", "with a space within") { text, middle in text[..<middle] + [0x20] + text[middle...] },
            signed(part, "question-mark", "with a ? within") { text, middle in
                text[..<middle] + [UInt8(ascii: "?")] + text[middle...]
            },
        ]
    }

    /// The signed segments, in which the same changes are made.
    private enum Part: String, CaseIterable {
        case header
        case payload
    }

    /// Spaces are added to the JSON to try all three lengths of the encoding until the change applies. The member `pad`
    /// has bytes whose encoding contains `-` and `_`.
    private static func signed(
        _ part: Part, _ name: String, _ title: String, _ change: @escaping @Sendable ([UInt8], Int) -> [UInt8]?
    ) -> Attack {
        let isHeader = part == .header
        return attack("\(part.rawValue)-\(name)", "the \(part.rawValue) \(title), rightly signed", .signed) {
            material in
            let pad: [(name: String, raw: String?)] = [("pad", #""~~~???>>>~~??>>ÿ""#)]
            let json = isHeader ? try material.signedHeader(pad) : material.freshClaims(pad)
            let other = Bytes.base64URL(isHeader ? material.freshClaims() : try material.signedHeader())
            for spaces in 0..<3 {
                let text = Bytes.base64URL(json + String(repeating: " ", count: spaces))
                guard let changed = change(text, text.count / 2) else { continue }
                return try material.signed(
                    headerText: isHeader ? changed : other, payloadText: isHeader ? other : changed)
            }
            return nil
        }
    }

    /// The text with another last letter that a lenient decoder decodes to the same bytes; nil if its length leaves no
    /// bits unused.
    static func withUnusedBits(_ text: [UInt8]) -> [UInt8]? {
        guard text.count % 4 == 2 || text.count % 4 == 3, let last = text.last,
            let place = letters.firstIndex(of: last)
        else { return nil }
        return text.dropLast() + [letters[place | 1]]
    }

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static func attack(
        _ name: String, _ title: String, _ mode: AttackMode,
        _ token: @escaping @Sendable (AttackMaterial) throws -> [UInt8]?
    ) -> Attack {
        Attack(
            id: "J13-\(name)", title: title, reference: "RFC 7515 §2, RFC 4648 §3.5", category: .base64url, mode: mode
        ) { try token($0).map(Payload.token) }
    }
}
