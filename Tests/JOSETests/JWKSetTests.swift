import Encodings
import Testing

@testable import JOSE

@Suite struct JWKSetTests {
    private func set(_ keys: [JSONValue]) -> [UInt8] {
        (["keys": .array(keys)] as JSONObject).serializedBytes()
    }

    private func jwk(_ algorithm: SignatureAlgorithm, keyID: String? = nil) throws -> JSONObject {
        var jwk = try #require(try Keys.key(algorithm).verificationKey.jwk)
        if let keyID { jwk["kid"] = .string(keyID) }
        return jwk
    }

    @Test("Keys are found by kid, byte for byte (J07)")
    func lookup() throws {
        let keys = try JWKSet(
            parsing: set([.object(try jwk(.es256, keyID: "caf\u{E9}")), .object(try jwk(.rs256, keyID: "b"))]),
            policy: .local)
        #expect(keys.keys.count == 2)
        #expect(keys[keyID: "caf\u{E9}"]?.algorithm == .es256)
        #expect(keys[keyID: "cafe\u{301}"] == nil)
        #expect(keys[keyID: "b"]?.algorithm == .rs256)
        for unknown in ["", "B", "../../dev/null", "' UNION SELECT 'x'--", "b\u{0}", "b\r\n"] {
            let key = try SigningKey(pem: try Keys.key(.es256).pkcs8PEM(), keyID: unknown)
            let token = try UnverifiedToken(try key.sign(claims: goodClaims, type: "at+jwt"))
            #expect(throws: TokenRefusal(.keyUnknown, "")) {
                try token.verify(with: keys, rules: goodRules, now: now).get()
            }
        }
        let good = try SigningKey(pem: try Keys.key(.es256).pkcs8PEM(), keyID: "caf\u{E9}")
        let token = try UnverifiedToken(try good.sign(claims: goodClaims, type: "at+jwt"))
        #expect(throws: Never.self) { try token.verify(with: keys, rules: goodRules, now: now).get() }
    }

    @Test("A token without kid needs a set of exactly one key")
    func withoutKeyID() throws {
        let token = try UnverifiedToken(try forge(try Keys.key(.es256)))
        let one = try JWKSet([try Keys.key(.es256).verificationKey])
        let two = try JWKSet([try Keys.key(.es256).verificationKey, try Keys.key(.rs256).verificationKey])
        #expect(throws: Never.self) { try token.verify(with: one, rules: goodRules, now: now).get() }
        #expect(throws: TokenRefusal(.keyUnknown, "")) { try token.verify(with: two, rules: goodRules, now: now).get() }
        #expect(throws: TokenRefusal(.keyUnknown, "")) {
            try token.verify(with: try JWKSet([]), rules: goodRules, now: now).get()
        }
    }

    @Test("A remote set loses only the keys that cannot be used")
    func remote() throws {
        var encryption = try jwk(.rs256, keyID: "enc")
        encryption["use"] = "enc"
        let bytes = set([
            ["kty": "XYZ", "kid": "x"], .object(encryption), ["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"],
            "no key", 7,
            .object(try jwk(.es256, keyID: "good")), ["kty": "OKP", "crv": "X25519", "x": "AA"],
        ])
        let keys = try JWKSet(parsing: bytes, policy: .remote)
        #expect(keys.keys.map(\.keyID) == ["good"])
        #expect(keys.skipped.count == 6)
        #expect(throws: JOSEError.self) { try JWKSet(parsing: bytes, policy: .local) }
    }

    @Test(
        "Duplicate kids and mixtures of secrets and public keys are refused", arguments: [JWKSet.Policy.local, .remote])
    func refused(policy: JWKSet.Policy) throws {
        let secret: JSONValue = [
            "kty": "oct", "kid": "s", "alg": "HS256", "k": .string(Base64URL.encode([UInt8](repeating: 1, count: 32))),
        ]
        #expect(throws: JOSEError(.duplicateKeyID, "")) {
            try JWKSet(
                parsing: set([.object(try jwk(.es256, keyID: "a")), .object(try jwk(.rs256, keyID: "a"))]),
                policy: policy)
        }
        #expect(throws: JOSEError(.mixedKeySet, "")) {
            try JWKSet(parsing: set([.object(try jwk(.es256)), secret]), policy: policy)
        }
        if policy == .remote {
            #expect(throws: JOSEError(.mixedKeySet, "")) { try JWKSet(parsing: set([secret]), policy: policy) }
        } else {
            #expect(try JWKSet(parsing: set([secret]), policy: policy).keys.count == 1)
        }
        #expect(throws: Never.self) { try JWKSet(parsing: set([.object(try jwk(.es256))]), policy: policy) }
    }

    @Test(
        "A text that is not a key set is refused",
        arguments: ["", "{}", "[]", #"{"keys":{}}"#, #"{"keys":[],"keys":[]}"#, #"{"keys":[]} x"#, "null"])
    func noSet(text: String) {
        #expect(throws: JOSEError(.keyUnreadable, "")) { try JWKSet(parsing: text.utf8, policy: .remote) }
    }

    @Test("A set of too many keys is refused")
    func many() throws {
        let keys = (0...100).map { JSONValue.object(["kty": "XYZ", "kid": .string("\($0)")]) }
        #expect(throws: JOSEError(.keyUnreadable, "")) { try JWKSet(parsing: set(keys), policy: .remote) }
    }

    @Test("A file of any form becomes a set")
    func file() throws {
        let key = try Keys.key(.es256)
        let forms: [[UInt8]] = [
            Array(try key.verificationKey.pem().utf8), try key.verificationKey.der(),
            try #require(key.verificationKey.jwk).serializedBytes(),
            Array(JWKSet.publicJSON(of: [key.verificationKey]).utf8), Array(("\n" + (try key.pkcs8PEM())).utf8),
        ]
        for bytes in forms { #expect(try JWKSet(file: bytes).keys.map(\.keyID) == [key.keyID]) }
    }
}
