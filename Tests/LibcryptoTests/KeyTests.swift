import Libcrypto
import Testing

@Suite struct KeyTests {
    static let kinds: [KeyKind] = [
        .rsa(bits: 2048), .ec(.p256), .ec(.p384), .ec(.p521), .ec(.secp256k1), .ed25519, .ed448,
    ]

    private func scheme(_ kind: KeyKind) -> SignatureScheme {
        switch kind {
        case .rsa: .rsaPSS(.sha256)
        case .ec(let curve): .ecdsa(curve, .sha256)
        default: .pure
        }
    }

    @Test("A signature verifies, and no changed signature does", arguments: kinds)
    func signature(kind: KeyKind) throws {
        let key = try PrivateKey(generating: kind)
        #expect(key.kind == kind)
        let message = Array("message".utf8)
        let signature = try SignatureSigner(key, scheme(kind)).sign(message)
        let verifier = try SignatureVerifier(key.publicKey, scheme(kind))
        #expect(signature.count == verifier.signatureByteCount)
        #expect(verifier.isValid(signature, for: message))
        for place in [0, signature.count / 2, signature.count - 1] {
            var changed = signature
            changed[place] ^= 1
            #expect(!verifier.isValid(changed, for: message), "byte \(place)")
        }
        #expect(!verifier.isValid(signature + [0], for: message))
        #expect(!verifier.isValid(signature.dropLast(), for: message))
        #expect(!verifier.isValid([UInt8](), for: message))
        #expect(!verifier.isValid([UInt8](repeating: 0, count: signature.count), for: message))
        #expect(!verifier.isValid(signature, for: Array("Message".utf8)))
        #expect(!verifier.isValid(signature, for: [UInt8]()))
        #expect(verifier.isValid(signature, for: message), "control after the refusals")
    }

    @Test("PEM and DER of private and public keys are read back", arguments: kinds)
    func forms(kind: KeyKind) throws {
        let key = try PrivateKey(generating: kind)
        let secret = Array("correct horse".utf8)
        let publicDER = try key.publicKey.der()
        let readers: [DecodedKey] = [
            try KeyDecoder.decode(pem: Array(try key.pkcs8PEM().utf8)),
            try KeyDecoder.decode(der: try key.pkcs8DER()),
            try KeyDecoder.decode(pem: Array(try key.pkcs8PEM(passphrase: secret).utf8), passphrase: secret),
            try KeyDecoder.decode(der: try key.pkcs8DER(passphrase: secret), passphrase: secret),
            try KeyDecoder.decode(pem: Array(try key.publicKey.pem().utf8)),
            try KeyDecoder.decode(der: publicDER),
        ]
        for (index, decoded) in readers.enumerated() {
            #expect(try decoded.publicKey.der() == publicDER, "reader \(index)")
            if case .private = decoded { #expect(index < 4) } else { #expect(index >= 4) }
        }
    }

    @Test("An encrypted key needs its own passphrase")
    func passphrase() throws {
        let key = try PrivateKey(generating: .ec(.p256))
        let pem = Array(try key.pkcs8PEM(passphrase: Array("right".utf8)).utf8)
        #expect(String(decoding: pem, as: UTF8.self).hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----"))
        for passphrase in [nil, [], Array("wrong".utf8)] as [[UInt8]?] {
            let error = #expect(throws: LibcryptoError.self) { try KeyDecoder.decode(pem: pem, passphrase: passphrase) }
            #expect(error?.code == .passphrase)
        }
        #expect(throws: LibcryptoError.self) { try key.pkcs8PEM(passphrase: []) }
    }

    @Test(
        "Bytes that are not a key are refused",
        arguments: [
            "", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
            "-----BEGIN DH PARAMETERS-----\nMIIB\n-----END DH PARAMETERS-----\n",
        ])
    func noKey(text: String) {
        #expect(throws: LibcryptoError.self) { try KeyDecoder.decode(pem: Array(text.utf8)) }
        #expect(throws: LibcryptoError.self) { try KeyDecoder.decode(der: Array(text.utf8)) }
    }

    @Test("Two keys in one file, and truncated or lengthened DER, are refused")
    func ambiguous() throws {
        let key = try PrivateKey(generating: .ed25519)
        let pem = Array(try key.pkcs8PEM().utf8)
        #expect(throws: LibcryptoError.self) { try KeyDecoder.decode(pem: pem + pem) }
        let der = try key.publicKey.der()
        #expect(throws: LibcryptoError.self) { try KeyDecoder.decode(der: der + [0]) }
        #expect(throws: LibcryptoError.self) { try KeyDecoder.decode(der: der.dropLast()) }
    }

    @Test("Points off the curve and wrong coordinate lengths are refused")
    func offCurve() throws {
        let (x, y) = try PrivateKey(generating: .ec(.p256)).publicKey.ecCoordinates()
        #expect(throws: Never.self) { try PublicKey(curve: .p256, x: x, y: y) }
        var wrong = y
        wrong[31] ^= 1
        #expect(throws: LibcryptoError.self) { try PublicKey(curve: .p256, x: x, y: wrong) }
        #expect(throws: LibcryptoError.self) { try PublicKey(curve: .p256, x: x, y: [0] + y) }
        #expect(throws: LibcryptoError.self) { try PublicKey(curve: .p256, x: Array(x.dropFirst()), y: y) }
        let zero = [UInt8](repeating: 0, count: 32)
        #expect(throws: LibcryptoError.self) { try PublicKey(curve: .p256, x: zero, y: zero) }
        #expect(throws: LibcryptoError.self) { try PublicKey(curve: .p384, x: x, y: y) }
    }

    @Test("RSA keys that are short, even or have a small exponent are refused")
    func weakRSA() throws {
        let (n, e) = try PrivateKey(generating: .rsa(bits: 2048)).publicKey.rsaComponents()
        #expect(throws: Never.self) { try PublicKey(rsaModulus: n, exponent: e) }
        for exponent in [[1], [3], [1, 0, 0], [0x01, 0x00, 0x02], []] as [[UInt8]] {
            #expect(throws: LibcryptoError.self) { try PublicKey(rsaModulus: n, exponent: exponent) }
        }
        #expect(throws: LibcryptoError.self) { try PublicKey(rsaModulus: Array(n.prefix(128)), exponent: e) }
        var even = n
        even[255] &= 0xFE
        #expect(throws: LibcryptoError.self) { try PublicKey(rsaModulus: even, exponent: e) }
        #expect(throws: LibcryptoError.self) {
            try PublicKey(rsaModulus: [UInt8](repeating: 0xFF, count: 4096), exponent: e)
        }
        #expect(throws: LibcryptoError.self) { try PrivateKey(generating: .rsa(bits: 1024)) }
    }

    @Test("Edwards keys of small order, of another length or in a non-canonical encoding are refused")
    func smallOrder() {
        let zero = [UInt8](repeating: 0, count: 32)
        let one = [1] + zero.dropFirst()
        let minusOne = [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        let modulus = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        let signed = zero.dropLast() + [0x80]
        for bytes in [zero, one, minusOne, modulus, Array(signed), zero + [0], []] as [[UInt8]] {
            #expect(throws: LibcryptoError.self) { try PublicKey(kind: .ed25519, rawBytes: bytes) }
        }
        #expect(throws: LibcryptoError.self) {
            try PublicKey(kind: .ed448, rawBytes: [UInt8](repeating: 0, count: 57))
        }
    }

    @Test("A private key must fit its public key")
    func pair() throws {
        let (one, other) = (try PrivateKey(generating: .ec(.p256)), try PrivateKey(generating: .ec(.p256)))
        let (x, y) = try other.publicKey.ecCoordinates()
        #expect(throws: LibcryptoError.self) {
            try PrivateKey(curve: .p256, d: try one.ecPrivateNumber(), x: x, y: y)
        }
        #expect(throws: Never.self) { try PrivateKey(curve: .p256, d: try other.ecPrivateNumber(), x: x, y: y) }
        var numbers = try PrivateKey(generating: .rsa(bits: 2048)).rsaPrivateNumbers()
        #expect(throws: Never.self) { try PrivateKey(rsa: numbers) }
        numbers.d[numbers.d.count - 1] ^= 2
        #expect(throws: LibcryptoError.self) { try PrivateKey(rsa: numbers) }
    }

    @Test("A key is refused for another kind's scheme")
    func schemes() throws {
        let rsa = try PrivateKey(generating: .rsa(bits: 2048))
        #expect(throws: LibcryptoError.self) { try SignatureVerifier(rsa.publicKey, .ecdsa(.p256, .sha256)) }
        #expect(throws: LibcryptoError.self) { try SignatureSigner(rsa, .pure) }
        let p256 = try PrivateKey(generating: .ec(.p256))
        #expect(throws: LibcryptoError.self) { try SignatureVerifier(p256.publicKey, .ecdsa(.p384, .sha384)) }
    }

    @Test("ML-DSA works if libcrypto has it, and is unavailable if not", arguments: MLDSAParameters.allCases)
    func mldsa(parameters: MLDSAParameters) throws {
        let kind = KeyKind.mldsa(parameters)
        guard kind.isAvailable else {
            let error = #expect(throws: LibcryptoError.self) { try PrivateKey(generating: kind) }
            #expect(error?.code == .algorithmUnavailable)
            return
        }
        let key = try PrivateKey(generating: kind)
        let signature = try SignatureSigner(key, .pure).sign([1, 2, 3])
        #expect(try SignatureVerifier(key.publicKey, .pure).isValid(signature, for: [1, 2, 3]))
    }

    @Test("Many threads use one key at once")
    func concurrency() async throws {
        let key = try PrivateKey(generating: .ec(.p256))
        let signer = try SignatureSigner(key, .ecdsa(.p256, .sha256))
        let verifier = try SignatureVerifier(key.publicKey, .ecdsa(.p256, .sha256))
        let good = await withTaskGroup(of: Int.self) { group in
            for task in 0..<16 {
                group.addTask {
                    (0..<40).count { round in
                        let message = Array("\(task).\(round)".utf8)
                        guard let signature = try? signer.sign(message) else { return false }
                        return verifier.isValid(signature, for: message) && !verifier.isValid(signature, for: [0])
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(good == 640)
    }
}
