import Encodings
import JOSE

/// The encodings of a public key that implementations have used as a shared secret by mistake.
enum KeyForms {
    /// An encoding: its name, and how it is made. It is nil for keys that have no such encoding.
    struct Form: Sendable {
        let name: String
        /// What the encoding is called in the attack's title.
        let title: String
        let bytes: @Sendable (AttackMaterial, VerificationKey) throws -> [UInt8]?
    }

    static let all: [Form] = texts + numbers

    /// Forms that every key has: a verifier that reads its key from a file uses the file's text, with or without line
    /// ends.
    private static let texts = [
        Form(name: "spki-pem", title: "the SPKI PEM") { _, key in Array(try key.pem().utf8) },
        Form(name: "spki-pem-crlf", title: "the SPKI PEM with CRLF") { _, key in
            Array(lines(try key.pem()).map { $0 + "\r\n" }.joined().utf8)
        },
        Form(name: "spki-pem-trimmed", title: "the SPKI PEM without its last newline") { _, key in
            Array(lines(try key.pem()).joined(separator: "\n").utf8)
        },
        Form(name: "spki-pem-newline-first", title: "the SPKI PEM after a newline") { _, key in
            Array(("\n" + (try key.pem())).utf8)
        },
        Form(name: "spki-pem-space-first", title: "the SPKI PEM after a space") { _, key in
            Array((" " + (try key.pem())).utf8)
        },
        Form(name: "spki-der", title: "the SPKI DER") { _, key in try key.der() },
        Form(name: "jwks", title: "the JWKS as served") { material, _ in material.keySetText },
        Form(name: "jwk", title: "the JWK") { _, key in key.jwk?.serializedBytes() },
        Form(name: "jwk-served", title: "the JWK as it stands in the JWKS") { material, _ in
            try servedJWK(material)?.serializedBytes()
        },
        Form(name: "jwk-sorted", title: "the JWK with its names sorted") { _, key in
            key.jwk.map { sorted($0).serializedBytes() }
        },
        Form(name: "thumbprint", title: "the thumbprint") { _, key in Array(key.thumbprint.utf8) },
        Form(name: "kid", title: "the kid") { material, _ in material.keyID.map { Array($0.utf8) } },
        Form(name: "empty", title: "nothing") { _, _ in [] },
    ]

    /// Forms of RSA and EC keys only.
    private static let numbers = [
        Form(name: "pkcs1-pem", title: "the PKCS#1 PEM") { _, key in
            guard let n = member("n", of: key), let e = member("e", of: key) else { return nil }
            return Array(pem(DER.sequence(DER.integer(n), DER.integer(e)), "RSA PUBLIC KEY").utf8)
        },
        Form(name: "modulus", title: "the modulus") { _, key in member("n", of: key) },
        Form(name: "coordinates", title: "x and y") { _, key in
            member("x", of: key).map { $0 + (member("y", of: key) ?? []) }
        },
        Form(name: "point", title: "the uncompressed point") { _, key in
            guard let x = member("x", of: key), let y = member("y", of: key) else { return nil }
            return [4] + x + y
        },
    ]

    /// A number of the public JWK.
    static func member(_ name: String, of key: VerificationKey) -> [UInt8]? {
        key.jwk?[name]?.stringValue.flatMap { Base64URL.decode($0) }
    }

    /// The lines of a text, without empty ones.
    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n")
    }

    /// The object with its members in the order of their names' bytes.
    private static func sorted(_ object: JSONObject) -> JSONObject {
        var result: JSONObject = [:]
        for (name, value) in object.members.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            result.append(name, value)
        }
        return result
    }

    /// The target's key as its key set serves it; nil where that is not known.
    private static func servedJWK(_ material: AttackMaterial) throws -> JSONObject? {
        guard let text = material.keySetText, let keyID = material.keyID else { return nil }
        let keys = try StrictJSON.object(text, limits: JSONLimits(maxBytes: 256 * 1024))["keys"]?.arrayValue
        return keys?.compactMap(\.objectValue).first { $0["kid"] == .string(keyID) }
    }

    /// DER as PEM in lines of 64 letters (RFC 7468 section 2), with a newline at the end.
    private static func pem(_ der: [UInt8], _ label: String) -> String {
        var text = StandardBase64.encode(der)[...]
        var lines = ["-----BEGIN \(label)-----"]
        while !text.isEmpty {
            lines.append(String(text.prefix(64)))
            text = text.dropFirst(64)
        }
        return (lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
    }
}
