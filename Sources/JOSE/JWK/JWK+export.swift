import Encodings
import Libcrypto

extension JWK {
    /// The required members of a public key in the order of RFC 7638 section 3.2, over which the thumbprint is
    /// computed.
    static func requiredMembers(of key: PublicKey) throws(JOSEError) -> JSONObject {
        try JOSEError.mapping { () throws(LibcryptoError) in
            switch key.kind {
            case .rsa:
                let (n, e) = try key.rsaComponents()
                return ["e": text(e), "kty": "RSA", "n": text(n)]
            case .ec(let curve):
                let (x, y) = try key.ecCoordinates()
                return ["crv": .string(curve.rawValue), "kty": "EC", "x": text(x), "y": text(y)]
            case .ed25519:
                return ["crv": "Ed25519", "kty": "OKP", "x": text(try key.rawBytes())]
            case .ed448:
                return ["crv": "Ed448", "kty": "OKP", "x": text(try key.rawBytes())]
            case .mldsa(let parameters):
                return ["alg": .string(parameters.rawValue), "kty": "AKP", "pub": text(try key.rawBytes())]
            }
        }
    }

    /// The SHA-256 thumbprint of required members (RFC 7638 section 3).
    static func thumbprint(of requiredMembers: JSONObject) -> String {
        Base64URL.encode(Digest.sha256(requiredMembers.serializedBytes()))
    }

    /// The thumbprint of a shared secret. As with a signature, a weak secret could be guessed from it offline, a random
    /// one not.
    static func thumbprint(ofSecret secret: [UInt8]) -> String {
        thumbprint(of: ["k": text(secret), "kty": "oct"])
    }

    /// The public JWK to publish. It is made from the public key only, so it cannot contain private members.
    static func published(
        _ requiredMembers: JSONObject, algorithm: SignatureAlgorithm, keyID: String
    ) -> JSONObject {
        var object: JSONObject = [:]
        object[JWKName.keyType] = requiredMembers[JWKName.keyType]
        object[JWKName.use] = .string(JWKName.signature)
        object[JWKName.algorithm] = .string(algorithm.rawValue)
        object[JWKName.keyID] = .string(keyID)
        for (name, value) in requiredMembers.members where object[name] == nil { object[name] = value }
        return object
    }

    /// The members that a private JWK has in addition. Secret.
    static func privateMembers(of key: PrivateKey) throws(JOSEError) -> JSONObject {
        try JOSEError.mapping { () throws(LibcryptoError) in
            switch key.kind {
            case .rsa:
                let numbers = try key.rsaPrivateNumbers()
                return [
                    "d": text(numbers.d), "p": text(numbers.p), "q": text(numbers.q), "dp": text(numbers.dp),
                    "dq": text(numbers.dq), "qi": text(numbers.qi),
                ]
            case .ec: return ["d": text(try key.ecPrivateNumber())]
            case .ed25519, .ed448: return ["d": text(try key.rawPrivateBytes())]
            case .mldsa: return ["priv": text(try key.rawPrivateBytes())]
            }
        }
    }

    private static func text(_ bytes: [UInt8]) -> JSONValue {
        .string(Base64URL.encode(bytes))
    }
}
