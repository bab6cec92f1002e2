import Encodings
import Libcrypto

/// Reads JSON Web Keys (RFC 7517).
///
/// Members that refer to certificates (`x5u`, `x5c`) are ignored: nothing is fetched.
enum JWK {
    /// What the key is to be used for.
    enum Operation { case sign, verify }

    /// The longest `kid` accepted, in bytes. It is used only to look keys up.
    static let maximumKeyIDBytes = 128

    /// Reads the key of a JSON object, and checks `use` and `key_ops` for the operation.
    static func material(of object: JSONObject, for operation: Operation) throws(JOSEError) -> KeyMaterial {
        let members = JWKMembers(object)
        let type = try members.text(JWKName.keyType)
        let keyID = try members.optionalText(JWKName.keyID)
        if let keyID, keyID.utf8.count > maximumKeyIDBytes {
            throw JOSEError(.keyUnreadable, "a kid longer than \(maximumKeyIDBytes) bytes")
        }
        let content = try content(of: members, type: type)
        try checkUse(members, content, operation)
        return KeyMaterial(content, declaredAlgorithm: try declaredAlgorithm(members), keyID: keyID)
    }

    private static func declaredAlgorithm(_ members: JWKMembers) throws(JOSEError) -> SignatureAlgorithm? {
        guard let name = try members.optionalText(JWKName.algorithm) else { return nil }
        guard let algorithm = SignatureAlgorithm(name: name) else {
            throw JOSEError(.algorithmMismatch, "the key is for an algorithm that is not used here")
        }
        return algorithm
    }

    private static func checkUse(
        _ members: JWKMembers, _ content: KeyMaterial.Content, _ operation: Operation
    ) throws(JOSEError) {
        if let use = try members.optionalText(JWKName.use), !use.hasSameBytes(as: JWKName.signature) {
            throw JOSEError(.keyUse, "the key's use is not sig")
        }
        guard let operations = try members.optionalTexts(JWKName.keyOperations) else { return }
        guard Set(operations.map(ByteName.init)).count == operations.count else {
            throw JOSEError(.keyUnreadable, "key_ops names an operation twice")
        }
        let maySign = operations.contains { $0.hasSameBytes(as: JWKName.sign) }
        let mayVerify = operations.contains { $0.hasSameBytes(as: JWKName.verify) }
        // The public key of a private key that may sign may verify.
        let isPrivate = if case .private = content { true } else { false }
        guard operation == .sign ? maySign : mayVerify || (isPrivate && maySign) else {
            throw JOSEError(.keyUse, "the key's key_ops do not allow it")
        }
    }

    // MARK: The kinds

    private static func content(of members: JWKMembers, type: String) throws(JOSEError) -> KeyMaterial.Content {
        switch type {
        case JWKName.rsa: return try rsa(members)
        case JWKName.ec: return try ellipticCurve(members)
        case JWKName.octetKeyPair: return try octetKeyPair(members)
        case JWKName.algorithmKeyPair: return try algorithmKeyPair(members)
        case JWKName.octets: return .symmetric(try secret(members))
        default: throw JOSEError(.keyUnsupported, "a kty that is not used here")
        }
    }

    private static func rsa(_ members: JWKMembers) throws(JOSEError) -> KeyMaterial.Content {
        let n = try members.number(JWKName.modulus)
        let e = try members.number(JWKName.exponent)
        guard members.has(JWKName.privateNumber) else {
            return .public(
                try JOSEError.mapping { () throws(LibcryptoError) in
                    try PublicKey(rsaModulus: n, exponent: e)
                })
        }
        guard !members.has(JWKName.otherPrimes) else {
            throw JOSEError(.keyUnsupported, "an RSA key of more than two primes")
        }
        let numbers = RSAPrivateNumbers(
            n: n, e: e, d: try members.number(JWKName.privateNumber), p: try members.number("p"),
            q: try members.number("q"), dp: try members.number("dp"), dq: try members.number("dq"),
            qi: try members.number("qi"))
        return .private(try JOSEError.mapping { () throws(LibcryptoError) in try PrivateKey(rsa: numbers) })
    }

    private static func ellipticCurve(_ members: JWKMembers) throws(JOSEError) -> KeyMaterial.Content {
        let name = try members.text(JWKName.curve)
        guard let curve = Curve.allCases.first(where: { $0.rawValue.hasSameBytes(as: name) }) else {
            throw JOSEError(.keyUnsupported, "a crv that is not used here")
        }
        let x = try members.bytes(JWKName.x)
        let y = try members.bytes(JWKName.y)
        guard members.has(JWKName.privateNumber) else {
            return .public(
                try JOSEError.mapping { () throws(LibcryptoError) in
                    try PublicKey(curve: curve, x: x, y: y)
                })
        }
        let d = try members.bytes(JWKName.privateNumber)
        return .private(
            try JOSEError.mapping { () throws(LibcryptoError) in
                try PrivateKey(curve: curve, d: d, x: x, y: y)
            })
    }

    private static func octetKeyPair(_ members: JWKMembers) throws(JOSEError) -> KeyMaterial.Content {
        let kind: KeyKind
        switch try members.text(JWKName.curve) {
        case JWKName.ed25519: kind = .ed25519
        case JWKName.ed448: kind = .ed448
        default: throw JOSEError(.keyUnsupported, "a crv that is not used here")
        }
        return try raw(kind, members, public: JWKName.x, private: JWKName.privateNumber)
    }

    private static func algorithmKeyPair(_ members: JWKMembers) throws(JOSEError) -> KeyMaterial.Content {
        guard let parameters = MLDSAParameters(rawValue: try members.text(JWKName.algorithm)) else {
            throw JOSEError(.keyUnsupported, "an AKP key whose alg is not used here")
        }
        return try raw(
            .mldsa(parameters), members, public: JWKName.publicBytes, private: JWKName.privateBytes)
    }

    private static func raw(
        _ kind: KeyKind, _ members: JWKMembers, public publicName: String, private privateName: String
    ) throws(JOSEError) -> KeyMaterial.Content {
        let publicBytes = try members.bytes(publicName)
        let publicKey = try JOSEError.mapping { () throws(LibcryptoError) in
            try PublicKey(kind: kind, rawBytes: publicBytes)
        }
        guard members.has(privateName) else { return .public(publicKey) }
        let privateBytes = try members.bytes(privateName)
        let privateKey = try JOSEError.mapping { () throws(LibcryptoError) in
            try PrivateKey(kind: kind, rawBytes: privateBytes)
        }
        let derived = try JOSEError.mapping { () throws(LibcryptoError) in try privateKey.publicKey.rawBytes() }
        guard derived == publicBytes else {
            throw JOSEError(.keyUnsound, "a private key that does not fit its public key")
        }
        return .private(privateKey)
    }

    private static func secret(_ members: JWKMembers) throws(JOSEError) -> [UInt8] {
        let secret = try members.bytes(JWKName.secret)
        // Algorithm confusion: a public key in PEM, which is no secret, configured as a shared secret.
        let boundary = Array("-----BEGIN ".utf8)
        let looksLikePEM =
            secret.count >= boundary.count
            && (0...(secret.count - boundary.count)).contains { secret[$0...].starts(with: boundary) }
        guard !looksLikePEM else { throw JOSEError(.keyUnsound, "a secret that is a PEM text") }
        return secret
    }
}
