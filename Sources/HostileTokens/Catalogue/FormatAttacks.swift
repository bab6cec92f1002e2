import Encodings
import JOSE

/// J20: nested tokens, encrypted tokens, and the JSON serialisations of JWS.
enum FormatAttacks {
    /// A gateway that takes signed tokens in compact form must refuse every other form, also where a library behind it
    /// would decode it: what was checked and what is read later may differ. The signed ones are valid but for their
    /// form, so only the form can be the reason of the refusal.
    static let all: [Attack] = [
        signed("nested", "cty JWT, the good token as payload") {
            try $0.signed(header: Array($0.signedHeader([("cty", #""JWT""#)]).utf8), payload: $0.goodToken)
        },
        signed("cty-jwt", "cty JWT over plain claims") { try $0.signed(headerChanges: [("cty", #""JWT""#)]) },
        signed("payload-token", "the good token as payload") { try $0.signed(payload: $0.goodToken) },
        signed("deflated", "zip DEF over a deflated payload") { material in
            let claims = Array(material.freshClaims().utf8)
            guard let count = UInt16(exactly: claims.count) else { return nil }
            // One stored block (RFC 1951 section 3.2.4).
            let length = [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)]
            let block = [1] + length + length.map { ~$0 } + claims
            return try material.signed(header: Array(material.signedHeader([("zip", #""DEF""#)]).utf8), payload: block)
        },
        blackBox("jwe-direct", "a JWE of five segments, dir") { material in
            encrypted(#"{"alg":"dir","enc":"A256GCM"}"#, material)
        },
        blackBox("jwe-rsa", "a JWE of five segments, RSA-OAEP") { material in
            encrypted(#"{"alg":"RSA-OAEP","enc":"A256GCM","cty":"JWT"}"#, material)
        },
        blackBox("jwe-pbes2", "a JWE that asks for two thousand million rounds") { material in
            encrypted(
                #"{"alg":"PBES2-HS256+A128KW","enc":"A128GCM","p2c":2000000000,"p2s":"AAAAAAAAAAA"}"#, material)
        },
        blackBox("json-flattened", "the flattened JSON form") { material in Array(flattened(material).utf8) },
        blackBox("json-general", "the general JSON form") { material in
            let (header, payload, signature) = texts(material)
            let entry = #"{"protected":"\#(header)","signature":"\#(signature)"}"#
            return Array(#"{"payload":"\#(payload)","signatures":[\#(entry)]}"#.utf8)
        },
        blackBox("json-base64url", "the flattened JSON form in base64url") { material in
            Bytes.base64URL(flattened(material))
        },
    ]

    /// The three segments of the valid token as text.
    private static func texts(_ material: AttackMaterial) -> (String, String, String) {
        let segments = material.segments
        return (
            String(decoding: segments.header, as: UTF8.self), String(decoding: segments.payload, as: UTF8.self),
            String(decoding: segments.signature, as: UTF8.self)
        )
    }

    /// The valid token in the flattened JSON serialisation (RFC 7515 section 7.2.2).
    private static func flattened(_ material: AttackMaterial) -> String {
        let (header, payload, signature) = texts(material)
        return #"{"payload":"\#(payload)","protected":"\#(header)","signature":"\#(signature)"}"#
    }

    /// A JWE of five segments (RFC 7516 section 3.1) with an empty key and zeros for nonce and tag. It must be refused
    /// before anything is derived from its header.
    private static func encrypted(_ header: String, _ material: AttackMaterial) -> [UInt8] {
        let parts = [
            Bytes.base64URL(header), [], Base64URL.encodeBytes(Bytes.zeros(12)), material.segments.payload,
            Base64URL.encodeBytes(Bytes.zeros(16)),
        ]
        return Array(parts.joined(separator: [UInt8(ascii: ".")]))
    }

    private static let reference = "RFC 8725 §3.1, RFC 7515 §7.2, CVE-2023-51774"

    /// A case under a valid signature, which needs the target's key.
    ///
    /// - Parameter token: nil where the case does not apply.
    private static func signed(
        _ name: String, _ title: String, _ token: @escaping @Sendable (AttackMaterial) throws -> [UInt8]?
    ) -> Attack {
        Attack(id: "J20-\(name)", title: title, reference: reference, category: .format, mode: .signed) {
            try token($0).map(Payload.token)
        }
    }

    /// A case that is made of the valid token alone, or of no token.
    private static func blackBox(
        _ name: String, _ title: String, _ token: @escaping @Sendable (AttackMaterial) -> [UInt8]
    ) -> Attack {
        Attack(id: "J20-\(name)", title: title, reference: reference, category: .format) { .token(token($0)) }
    }
}
