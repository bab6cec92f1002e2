import Encodings
import Libcrypto

extension JWK {
    /// The members that say what a public key is, in the order and form of RFC 7638: they are all the thumbprint needs.
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

    /// The thumbprint of required members (RFC 7638 §3).
    static func thumbprint(of requiredMembers: JSONObject) -> String {
        Base64URL.encode(Digest.sha256(requiredMembers.serializedBytes()))
    }

    /// The thumbprint of a shared secret; no more than a signature of the secret gives away.
    static func thumbprint(ofSecret secret: [UInt8]) -> String {
        thumbprint(of: ["k": text(secret), "kty": "oct"])
    }

    /// The public key as others should see it; built from the public half, so that nothing private can be in it.
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

    /// The members to add for the private half. Secret.
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
