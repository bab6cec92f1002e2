import Encodings
import Foundation
import Testing

@testable import JOSE

/// Key files written by other programs.
@Suite struct KeyFormTests {
    private func file(_ name: String) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return Array(try Data(contentsOf: folder.appendingPathComponent("Corpus/pem").appendingPathComponent(name)))
    }

    @Test(
        "Private keys are read in every form",
        arguments: [
            ("sec1", SignatureAlgorithm.es256), ("pkcs8-p256", .es256), ("pkcs1", .rs256),
            ("pkcs8-ed25519.der", .ed25519), ("pkcs8-encrypted", .ed25519),
        ])
    func privateForms(name: String, algorithm: SignatureAlgorithm) throws {
        let key = try SigningKey(parsing: try file(name), passphrase: Array("passphrase".utf8))
        #expect(key.algorithm == algorithm)
        let token = try forge(key)
        #expect(refusal(token, key.verificationKey) == nil)
        let again = try SigningKey(pem: try key.pkcs8PEM())
        #expect(again.verificationKey.thumbprint == key.verificationKey.thumbprint)
        #expect(refusal(token, again.verificationKey) == nil)
    }

    @Test("A key in SEC1 and the same key in PKCS#8 are equal")
    func sameKey() throws {
        let sec1 = try SigningKey(parsing: try file("sec1"))
        #expect(sec1.keyID == (try SigningKey(parsing: try file("pkcs8-p256"))).keyID)
        #expect(
            sec1.keyID == (try VerificationKey(parsing: try file("sec1"))).keyID, "of a private key, the public half")
    }

    @Test("Public keys are read as SPKI, in PEM and DER")
    func publicForms() throws {
        let rsa = try SigningKey(parsing: try file("pkcs1"))
        #expect(try VerificationKey(parsing: try file("spki-rsa")).thumbprint == rsa.verificationKey.thumbprint)
        let edwards = try SigningKey(parsing: try file("pkcs8-ed25519.der"))
        let spki = try VerificationKey(der: try file("spki-ed25519.der"))
        #expect(spki.thumbprint == edwards.verificationKey.thumbprint)
        #expect(throws: JOSEError(.privateKeyMissing, "")) { try SigningKey(parsing: try file("spki-rsa")) }
    }

    @Test("An encrypted key without its passphrase is refused, with the reason")
    func encrypted() throws {
        let bytes = try file("pkcs8-encrypted")
        for passphrase in [nil, [], Array("wrong".utf8)] as [[UInt8]?] {
            #expect(throws: JOSEError(.passphrase, "")) { try SigningKey(parsing: bytes, passphrase: passphrase) }
        }
        #expect(throws: Never.self) { try SigningKey(parsing: bytes, passphrase: Array("passphrase".utf8)) }
    }

    @Test(
        "J07: a kid is used only as the name of a key",
        arguments: ["/dev/null", "../../dev/null", "", "\u{0}", "$(id)", "|sleep 10", "' UNION SELECT 'x'--"])
    func keyIDs(keyID: String) throws {
        let key = try Keys.key(.es256)
        let set = try JWKSet([key.verificationKey])
        // The content of the file of that name, as a secret.
        for secret in [[UInt8](repeating: 0, count: 32), Array("\n".utf8) + [UInt8](repeating: 0, count: 31)] {
            let attacker = try SigningKey(secret: secret, algorithm: .hs256, keyID: keyID)
            for algorithm in ["HS256", "ES256"] {
                let header: JSONObject = ["alg": .string(algorithm), "typ": "at+jwt", "kid": .string(keyID)]
                let token = try UnverifiedToken(try forge(attacker, header: header.serialized()))
                #expect(throws: TokenRefusal(.keyUnknown, "")) {
                    try token.verify(with: set, rules: goodRules, now: now).get()
                }
            }
        }
        let good = try UnverifiedToken(try key.sign(claims: goodClaims, type: "at+jwt"))
        #expect(throws: Never.self) { try good.verify(with: set, rules: goodRules, now: now).get() }
    }

    @Test("J29: the value of a claim is returned unchanged, and escaped where it is shown")
    func reflection() throws {
        let key = try Keys.key(.es256)
        let hostile = "a\r\nX-Gatehouse-User: admin\u{1B}[31m<script>\u{202E}\u{0}"
        var claims = goodClaims
        claims["sub"] = .string(hostile)
        let token = try UnverifiedToken(try key.sign(claims: claims, type: "at+jwt"))
        let verified = try token.verify(with: key.verificationKey, rules: goodRules, now: now).get()
        #expect(verified.claims.subject.map { Array($0.utf8) } == Array(hostile.utf8))
        let shown = TerminalText.escaped(hostile)
        #expect(!shown.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
    }
}
