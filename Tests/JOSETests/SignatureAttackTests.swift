import Encodings
import Testing

@testable import JOSE

/// Rows of the attack list that are about algorithm, key and signature. Each test ends with a valid token (J30).
@Suite struct SignatureAttackTests {
    @Test("A valid token is accepted", arguments: available)
    func control(algorithm: SignatureAlgorithm) throws {
        let key = try Keys.key(algorithm)
        let token = try key.sign(claims: goodClaims, type: "at+jwt")
        #expect(refusal(token, key.verificationKey) == nil)
        let header = try UnverifiedToken(token).header
        #expect(header.keyID == key.keyID)
        #expect(header.algorithm == algorithm.rawValue)
    }

    @Test(
        "J01: alg none in every spelling is refused, signed or not",
        arguments: [
            #""none""#, #""None""#, #""NONE""#, #""nOnE""#, #""none ""#, #""no\u006ee""#, #""""#, "null", "0", "[]",
            nil,
        ])
    func none(value: String?) throws {
        let key = try Keys.key(.es256)
        let header = value.map { #"{"alg":\#($0),"typ":"at+jwt"}"# } ?? #"{"typ":"at+jwt"}"#
        let signed = try forge(key, header: header)
        let unsigned = signed.prefix(through: try #require(signed.lastIndex(of: ".")))
        for token in [signed, String(unsigned)] {
            let reason = refusal(token, key.verificationKey)
            #expect(reason == .algorithmNotAllowed || reason == .malformed)
        }
        #expect(refusal(try forge(key), key.verificationKey) == nil)
    }

    @Test("J02: a token without its signature, or with a part of it, is refused", arguments: available)
    func truncated(algorithm: SignatureAlgorithm) throws {
        let key = try Keys.key(algorithm)
        let token = try forge(key)
        let dot = try #require(token.lastIndex(of: "."))
        #expect(refusal(String(token[...dot]), key.verificationKey) == .signatureInvalid)
        #expect(refusal(String(token[..<dot]), key.verificationKey) == .malformed)
        for letters in 1...8 { #expect(refusal(String(token.dropLast(letters)), key.verificationKey) != nil) }
        let short = Base64URL.encode(try UnverifiedToken(token).signature.dropLast(3))
        #expect(refusal(token[...dot] + short, key.verificationKey) == .signatureInvalid)
        #expect(refusal(token, key.verificationKey) == nil)
    }

    @Test(
        "J03: a token signed with a public key as shared secret is refused",
        arguments: [.rs256, .es256, .ed25519] as [SignatureAlgorithm])
    func confusion(algorithm: SignatureAlgorithm) throws {
        let key = try Keys.key(algorithm)
        let pem = try key.verificationKey.pem()
        let jwk = try #require(key.verificationKey.jwk)
        let secrets: [[UInt8]] = [
            Array(pem.utf8), Array(pem.utf8.dropLast()), Array((" " + pem).utf8), Array(("\n" + pem).utf8),
            Array(pem.split(separator: "\n").joined(separator: "\r\n").utf8), try key.verificationKey.der(),
            Array(jwk.serialized().utf8), Array(JWKSet.publicJSON(of: [key.verificationKey]).utf8),
            Array(key.verificationKey.thumbprint.utf8),
            Base64URL.decode(jwk["x"]?.stringValue ?? jwk["n"]?.stringValue ?? "") ?? [],
        ]
        for secret in secrets {
            let padded = secret + [UInt8](repeating: 0, count: max(0, 64 - secret.count))
            for hmac in [SignatureAlgorithm.hs256, .hs384, .hs512] {
                let attacker = try SigningKey(secret: padded, algorithm: hmac)
                #expect(refusal(try forge(attacker), key.verificationKey) == .algorithmMismatch)
                let disguised = try forge(attacker, header: #"{"alg":"\#(algorithm.rawValue)","typ":"at+jwt"}"#)
                #expect(refusal(disguised, key.verificationKey) == .signatureInvalid)
            }
        }
        #expect(refusal(try forge(key), key.verificationKey) == nil)
    }

    @Test("J04: each key has one algorithm", arguments: available)
    func oneAlgorithm(algorithm: SignatureAlgorithm) throws {
        let key = try Keys.key(algorithm)
        for other in SignatureAlgorithm.allCases where other != algorithm {
            let token = try forge(key, header: #"{"alg":"\#(other.rawValue)","typ":"at+jwt"}"#)
            #expect(refusal(token, key.verificationKey) == .algorithmMismatch)
        }
        for text in [algorithm.rawValue.lowercased() + "x", algorithm.rawValue + " ", "ｅ" + algorithm.rawValue] {
            let token = try forge(key, header: #"{"alg":"\#(text)","typ":"at+jwt"}"#)
            #expect(refusal(token, key.verificationKey) == .algorithmNotAllowed)
        }
        #expect(refusal(try forge(key), key.verificationKey) == nil)
    }

    @Test("J04: the same RSA key bound to another algorithm refuses the token")
    func sameKeyOtherAlgorithm() throws {
        let pem = try Keys.key(.rs256).pkcs8PEM()
        let algorithms: [SignatureAlgorithm] = [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        for signing in algorithms {
            let signer = try SigningKey(pem: pem, algorithm: signing)
            for verifying in algorithms {
                let verifier = try VerificationKey(pem: pem, algorithm: verifying)
                #expect((refusal(try forge(signer), verifier) == nil) == (signing == verifying))
                // Also with a header that names the verifier's algorithm.
                let lie = try forge(signer, header: #"{"alg":"\#(verifying.rawValue)","typ":"at+jwt"}"#)
                #expect((refusal(lie, verifier) == nil) == (signing == verifying))
            }
        }
    }

    @Test("J05, J06: a key in the header, or a pointer to one, is never used")
    func headerKeys() throws {
        let attacker = try SigningKey.generate(.es256)
        let key = try Keys.key(.es256)
        let jwk = try #require(attacker.verificationKey.jwk).serialized()
        for member in [
            #""jwk":\#(jwk)"#, #""jwk":{"kty":"oct","k":"AAAA"}"#, #""jku":"http://127.0.0.1:1/jwks""#,
            #""x5u":"file:///etc/passwd""#, #""x5c":["AAAA"]"#,
        ] {
            let header = #"{"alg":"ES256","typ":"at+jwt",\#(member)}"#
            #expect(refusal(try forge(attacker, header: header), key.verificationKey) == .signatureInvalid)
            #expect(refusal(try forge(key, header: header), key.verificationKey) == nil, "control")
        }
    }

    @Test(
        "J09, J10, J33: ECDSA signatures with invalid numbers or lengths are refused",
        arguments: [.es256, .es384, .es512, .es256k] as [SignatureAlgorithm])
    func ecdsa(algorithm: SignatureAlgorithm) throws {
        let key = try Keys.key(algorithm)
        let good = try forge(key)
        let input = String(good[..<(try #require(good.lastIndex(of: ".")))])
        let raw = try key.signature(over: Array(input.utf8))
        let half = raw.count / 2
        let zero = [UInt8](repeating: 0, count: half)
        let one = zero.dropLast() + [1]
        let ones = [UInt8](repeating: 0xFF, count: half)
        let (r, s) = (Array(raw.prefix(half)), Array(raw.suffix(half)))
        let odd: [[UInt8]] = [
            zero + zero, zero + one, one + zero, r + zero, zero + s, ones + ones, r + ones, s + r,
            [], [0], [0x30, 0], [0x30, 0x06, 2, 1, 0, 2, 1, 0], Array(raw.dropFirst()), Array(raw.dropLast()),
            raw + [0],
            [0] + raw, raw + raw, [UInt8](repeating: 0x41, count: raw.count), [0x30, 0x44, 2, 32] + raw,
            [UInt8](repeating: 7, count: 4000),
        ]
        for signature in odd {
            #expect(refusal(input + "." + Base64URL.encode(signature), key.verificationKey) == .signatureInvalid)
        }
        #expect(refusal(input + "." + Base64URL.encode(raw), key.verificationKey) == nil)
    }

    @Test("J09: r and s of the group's order, and s beyond it, are refused; high s is valid")
    func groupOrder() throws {
        let key = try Keys.key(.es256)
        let good = try forge(key)
        let input = String(good[..<(try #require(good.lastIndex(of: ".")))])
        let raw = try key.signature(over: Array(input.utf8))
        let order: [UInt8] = [
            0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
        ]
        let (r, s) = (Array(raw.prefix(32)), Array(raw.suffix(32)))
        for signature in [order + order, order + s, r + order] {
            #expect(refusal(input + "." + Base64URL.encode(signature), key.verificationKey) == .signatureInvalid)
        }
        // n − s, the valid twin of every ECDSA signature.
        var twin = [UInt8](repeating: 0, count: 32)
        var borrow = 0
        for index in (0..<32).reversed() {
            let digit = Int(order[index]) - Int(s[index]) - borrow
            borrow = digit < 0 ? 1 : 0
            twin[index] = UInt8(digit + borrow * 256)
        }
        #expect(refusal(input + "." + Base64URL.encode(r + twin), key.verificationKey) == nil)
        #expect(refusal(good, key.verificationKey) == nil)
    }

    @Test("J11: Ed25519 signatures with a larger s, a changed r or another length are refused")
    func ed25519() throws {
        let key = try Keys.key(.ed25519)
        let good = try forge(key)
        let input = String(good[..<(try #require(good.lastIndex(of: ".")))])
        let raw = try key.signature(over: Array(input.utf8))
        let order: [UInt8] = [
            0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9, 0xDE, 0x14,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
        ]
        var larger = raw
        var carry = 0
        for index in 0..<32 {
            let sum = Int(raw[32 + index]) + Int(order[index]) + carry
            larger[32 + index] = UInt8(sum & 0xFF)
            carry = sum >> 8
        }
        var flipped = raw
        flipped[31] ^= 0x80
        for signature in [larger, flipped, raw.dropLast(), raw + [0], [UInt8](repeating: 0, count: 64)] {
            #expect(refusal(input + "." + Base64URL.encode(signature), key.verificationKey) == .signatureInvalid)
        }
        #expect(refusal(good, key.verificationKey) == nil)
    }

    @Test(
        "J12: RSA signatures with invalid numbers or lengths are refused",
        arguments: [.rs256, .ps256] as [SignatureAlgorithm])
    func rsa(algorithm: SignatureAlgorithm) throws {
        let key = try Keys.key(algorithm)
        let good = try forge(key)
        let input = String(good[..<(try #require(good.lastIndex(of: ".")))])
        let raw = try key.signature(over: Array(input.utf8))
        let zero = [UInt8](repeating: 0, count: raw.count)
        let modulus = try #require(key.verificationKey.jwk?["n"]?.stringValue.flatMap { Base64URL.decode($0) })
        var below = modulus
        below[below.count - 1] -= 1
        let odd: [[UInt8]] = [
            zero, zero.dropLast() + [1], modulus, below, [0] + raw, raw + [0], Array(raw.dropFirst()), [],
        ]
        for signature in odd {
            #expect(refusal(input + "." + Base64URL.encode(signature), key.verificationKey) == .signatureInvalid)
        }
        #expect(refusal(good, key.verificationKey) == nil)
    }

    @Test("Any bytes may be signed, also none", arguments: available)
    func anyPayload(algorithm: SignatureAlgorithm) throws {
        let key = try Keys.key(algorithm)
        for payload in [[], [0, 0xFF, 0x0A], Array("not json".utf8)] as [[UInt8]] {
            let token = try UnverifiedToken(try key.sign(payload: payload))
            #expect(try token.verifySignature(with: key.verificationKey).get().payload == payload)
            let detached = try UnverifiedToken(try key.sign(detachedPayload: payload))
            #expect(
                try detached.verifySignature(with: key.verificationKey, detachedPayload: payload).get().payload
                    == payload)
            let other = detached.verifySignature(with: key.verificationKey, detachedPayload: payload + [1])
            #expect(throws: TokenRefusal(.signatureInvalid, "")) { try other.get() }
        }
    }

    @Test("Reserved header members cannot be set by the caller", arguments: ["alg", "kid", "typ", "crit", "b64"])
    func reserved(name: String) throws {
        let key = try Keys.key(.es256)
        #expect(throws: JOSEError(.headerReserved, "")) {
            try key.sign(payload: [1], extraHeader: JSONObject(dictionaryLiteral: (name, "x")))
        }
    }
}
