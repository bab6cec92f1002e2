import Encodings

/// J02: the signature removed, shortened or changed, and content changed under the original signature.
enum StrippingAttacks {
    static let all: [Attack] = [
        attack("removed", "the signature removed, its dot kept") { $0.token(signatureText: []) },
        attack("removed-with-dot", "the signature removed with its dot") {
            $0.segments.header + [UInt8(ascii: ".")] + $0.segments.payload
        },
        attack("cut-one-byte", "the signature one byte short") { $0.token(signature: $0.signature.dropLast()) },
        attack("cut-four-letters", "the signature's last four letters cut off") {
            $0.token(signatureText: $0.segments.signature.dropLast(4))
        },
        attack("first-bit", "one bit of the signature's first byte changed") { material in
            Bytes.flipped(material.signature, at: 0).map { material.token(signature: $0) }
        },
        attack("last-bit", "one bit of the signature's last byte changed") { material in
            Bytes.flipped(material.signature, at: material.signature.count - 1).map { material.token(signature: $0) }
        },
        attack("zeros", "a signature of zeros") { $0.token(signature: Bytes.zeros($0.signature.count)) },
        attack("payload-changed", "another sub under the old signature") { material in
            let claims = RawJSON.text(of: material.claims, [("sub", #""usr_AAAAAAAAAAAAAAAAAAAAAA""#)])
            return AttackMaterial.joined(
                material.segments.header, Bytes.base64URL(claims), material.segments.signature)
        },
        attack("dates-changed", "exp and iat one second later under the old signature") { material in
            // Both dates are moved: a verifier that bounds the lifetime would refuse a later exp alone.
            guard let expiry = material.goodTokenExpiry, expiry < Int64.max else { return nil }
            let issued = material.claims["iat"]?.int64Value.map { ($0 &+ 1).description }
            let claims = RawJSON.text(of: material.claims, [("exp", String(expiry + 1)), ("iat", issued)])
            return AttackMaterial.joined(
                material.segments.header, Bytes.base64URL(claims), material.segments.signature)
        },
        attack("header-changed", "another header member under the old signature") { material in
            let header = material.headerText([("x", "1")])
            return AttackMaterial.joined(
                Bytes.base64URL(header), material.segments.payload, material.segments.signature)
        },
    ]

    /// The valid token with a part changed, which its signature must reveal.
    ///
    /// - Parameter token: makes it without any key; nil if it cannot.
    private static func attack(
        _ name: String, _ title: String, _ token: @escaping @Sendable (AttackMaterial) -> [UInt8]?
    ) -> Attack {
        Attack(id: "J02-\(name)", title: title, reference: "RFC 7515 §5.2", category: .signature) {
            token($0).map(Payload.token)
        }
    }
}

extension AttackMaterial {
    /// The valid token with another signature.
    func token(signature: ArraySlice<UInt8>) -> [UInt8] { token(signature: Array(signature)) }
    /// The valid token with another text in place of its signature.
    func token(signatureText: ArraySlice<UInt8>) -> [UInt8] { token(signatureText: Array(signatureText)) }
}
