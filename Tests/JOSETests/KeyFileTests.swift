import Encodings
import Testing

@testable import JOSE

@Suite struct KeyFileTests {
    private let asymmetric = available.filter { !$0.isSymmetric }

    @Test("A key is read back from every form it is written in", arguments: available.filter { !$0.isSymmetric })
    func forms(algorithm: SignatureAlgorithm) throws {
        let key = try Keys.key(algorithm)
        let secret = Array("pass phrase".utf8)
        let token = try forge(key)
        let signers = [
            try SigningKey(pem: try key.pkcs8PEM(), algorithm: algorithm),
            try SigningKey(pem: try key.pkcs8PEM(passphrase: secret), passphrase: secret, algorithm: algorithm),
            try SigningKey(parsing: try key.pkcs8DER(), algorithm: algorithm),
            try SigningKey(parsing: try key.privateJWK().serializedBytes(), algorithm: algorithm),
        ]
        for signer in signers {
            #expect(signer.keyID == key.keyID)
            #expect(refusal(try forge(signer), key.verificationKey) == nil)
        }
        let jwk = try #require(key.verificationKey.jwk)
        let verifiers = [
            try VerificationKey(pem: try key.verificationKey.pem(), algorithm: algorithm),
            try VerificationKey(pem: try key.pkcs8PEM(), algorithm: algorithm),
            try VerificationKey(der: try key.verificationKey.der(), algorithm: algorithm),
            try VerificationKey(parsing: jwk.serializedBytes(), algorithms: [algorithm]),
        ]
        for verifier in verifiers {
            #expect(verifier.thumbprint == key.verificationKey.thumbprint)
            #expect(refusal(token, verifier) == nil)
        }
    }

    @Test("Published keys contain nothing private")
    func published() throws {
        let keys = available.compactMap { Keys.all[$0]?.verificationKey }
        let set = try StrictJSON.object(JWKSet.publicJSON(of: keys), limits: JSONLimits(maxMembers: 100))
        let published = try #require(set["keys"]?.arrayValue)
        #expect(published.count == keys.count { !$0.isSymmetric })
        for key in published {
            let names = Set(try #require(key.objectValue).names)
            #expect(names.isDisjoint(with: ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"]))
            #expect(names.isSuperset(of: ["kty", "use", "alg", "kid"]))
        }
        #expect(throws: JOSEError.self) { try Keys.key(.hs256).verificationKey.pem() }
        #expect(Keys.all[.hs256]?.verificationKey.jwk == nil)
    }

    @Test("A key without alg gets the default algorithm of its kind")
    func usual() throws {
        for (algorithm, usual) in [
            (.rs512, .rs256), (.es256, .es256), (.es384, .es384), (.es512, .es512), (.eddsa, .ed25519),
            (.ed448, .ed448),
        ] as [(SignatureAlgorithm, SignatureAlgorithm)] {
            #expect(try VerificationKey(pem: try Keys.key(algorithm).verificationKey.pem()).algorithm == usual)
        }
        #expect(
            try VerificationKey(jwk: ["kty": "oct", "k": .string(Base64URL.encode([UInt8](repeating: 1, count: 64)))])
                .algorithm == .hs256)
        let pem = try Keys.key(.rs256).verificationKey.pem()
        #expect(try VerificationKey(parsing: pem.utf8, algorithms: [.es256, .ps384, .rs256]).algorithm == .ps384)
    }

    @Test("ES256K is off unless it is named")
    func secp256k1() throws {
        let key = try Keys.key(.es256k)
        let jwk = try #require(key.verificationKey.jwk)
        #expect(throws: JOSEError(.algorithmMismatch, "")) { try VerificationKey(jwk: jwk) }
        #expect(throws: JOSEError(.algorithmMismatch, "")) { try VerificationKey(pem: try key.verificationKey.pem()) }
        #expect(throws: Never.self) { try VerificationKey(jwk: jwk, algorithm: .es256k) }
    }

    @Test("A key's own alg, use and key_ops are respected")
    func obeyed() throws {
        let good = try #require(try Keys.key(.es256).verificationKey.jwk)
        #expect(throws: Never.self) { try VerificationKey(jwk: good) }
        func with(_ name: String, _ value: JSONValue?) -> JSONObject {
            var jwk = good
            jwk[name] = value
            return jwk
        }
        let bad: [(JSONObject, JOSEError.Code)] = [
            (with("use", "enc"), .keyUse), (with("use", 1), .keyUnreadable), (with("key_ops", ["sign"]), .keyUse),
            (with("key_ops", []), .keyUse), (with("key_ops", ["verify", "verify"]), .keyUnreadable),
            (with("key_ops", "verify"), .keyUnreadable), (with("alg", "ES384"), .algorithmMismatch),
            (with("alg", "RS256"), .algorithmMismatch), (with("alg", "HS256"), .algorithmMismatch),
            (with("alg", "none"), .algorithmMismatch), (with("alg", 1), .keyUnreadable),
            (with("kty", nil), .keyUnreadable),
            (with("kty", "RSA"), .keyUnreadable), (with("kty", "ec"), .keyUnsupported),
            (with("kty", "XYZ"), .keyUnsupported),
            (with("crv", "P-384"), .keyUnsound), (with("crv", "p-256"), .keyUnsupported),
            (with("kid", 1), .keyUnreadable),
            (with("x", "AA"), .keyUnsound), (with("x", "A=="), .keyUnreadable), (with("y", good["x"]), .keyUnsound),
            (with("d", "AA"), .keyUnsound),
        ]
        for (jwk, code) in bad {
            let error = #expect(throws: JOSEError.self, "\(jwk.serialized())") { try VerificationKey(jwk: jwk) }
            #expect(error?.code == code, "\(jwk.serialized())")
        }
        #expect(throws: Never.self) { try VerificationKey(jwk: with("key_ops", ["verify"])) }
        #expect(throws: JOSEError(.algorithmMismatch, "")) { try VerificationKey(jwk: good, algorithm: .es384) }
        #expect(throws: JOSEError(.privateKeyMissing, "")) { try SigningKey(jwk: good) }
    }

    @Test("Weak and malformed JWKs are refused")
    func weak() throws {
        let rsa = try #require(try Keys.key(.rs256).verificationKey.jwk)
        let modulus = try #require(rsa["n"]?.stringValue.flatMap { Base64URL.decode($0) })
        var jwk = rsa
        for exponent in [[1], [3], [0x01, 0x00, 0x00]] as [[UInt8]] {
            jwk["e"] = .string(Base64URL.encode(exponent))
            #expect(throws: JOSEError(.keyUnsound, "")) { try VerificationKey(jwk: jwk) }
        }
        jwk = rsa
        jwk["n"] = .string(Base64URL.encode(modulus.prefix(128)))
        #expect(throws: JOSEError(.keyUnsound, "")) { try VerificationKey(jwk: jwk) }
        jwk["n"] = .string(Base64URL.encode([0] + modulus))
        #expect(throws: JOSEError(.keyUnreadable, "")) { try VerificationKey(jwk: jwk) }

        func secret(_ bytes: [UInt8], _ algorithm: String) -> JSONObject {
            ["kty": "oct", "alg": .string(algorithm), "k": .string(Base64URL.encode(bytes))]
        }
        #expect(throws: JOSEError(.keyUnsound, "")) { try VerificationKey(jwk: secret([], "HS256")) }
        #expect(throws: JOSEError(.keyUnsound, "")) {
            try VerificationKey(jwk: secret([UInt8](repeating: 1, count: 31), "HS256"))
        }
        #expect(throws: JOSEError(.keyUnsound, "")) {
            try VerificationKey(jwk: secret([UInt8](repeating: 1, count: 63), "HS512"))
        }
        let pem = Array(try Keys.key(.rs256).verificationKey.pem().utf8)
        #expect(throws: JOSEError(.keyUnsound, "")) { try VerificationKey(jwk: secret(pem, "HS256")) }
        #expect(throws: Never.self) { try VerificationKey(jwk: secret([UInt8](repeating: 1, count: 32), "HS256")) }
    }

    @Test(
        "A text that is not a key is refused",
        arguments: ["", "{}", "[]", "{\"keys\":[]}", "hello", "0", "-----BEGIN PUBLIC KEY-----"])
    func noKey(text: String) {
        #expect(throws: JOSEError.self) { try VerificationKey(parsing: text.utf8) }
        #expect(throws: JOSEError.self) { try SigningKey(parsing: text.utf8) }
    }

    @Test("The description of a signing key shows nothing secret")
    func description() throws {
        let key = try Keys.key(.es256)
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key)" == "SigningKey(ES256, \(key.keyID))")
        #expect(!dumped.contains("0x"))
    }
}
