import Encodings
import Libcrypto

/// A key that signs, bound to one algorithm.
///
/// Its description names only the algorithm and the `kid`. The secret can be had only through the export functions
/// marked secret.
public struct SigningKey: Sendable {
    /// The key that verifies its signatures.
    public let verificationKey: VerificationKey
    let backend: Backend
    /// `alg` and `kid` serialised as members of a header, without braces.
    let headerMembers: [UInt8]

    enum Backend: Sendable {
        case asymmetric(SignatureSigner, PrivateKey)
        case symmetric(HMACKey, secret: [UInt8])
    }

    /// The one algorithm of the key.
    public var algorithm: SignatureAlgorithm { verificationKey.algorithm }
    /// The `kid` that signed tokens carry.
    public var keyID: String { verificationKey.keyID }

    // MARK: Making and reading

    /// Generates a new key: RSA with 2048 bits, a shared secret as long as the digest.
    ///
    /// - Parameters:
    ///   - algorithm: the algorithm it will be used with.
    ///   - keyID: the `kid`; nil for the thumbprint (RFC 7638).
    /// - Throws: ``JOSEError/Code/algorithmUnavailable`` if the installed libcrypto does not have it.
    public static func generate(_ algorithm: SignatureAlgorithm, keyID: String? = nil) throws(JOSEError) -> SigningKey {
        if let digest = algorithm.hmacDigest {
            return try SigningKey(secret: SecureRandom.bytes(digest.byteCount), algorithm: algorithm, keyID: keyID)
        }
        guard let kind = algorithm.keyKind else { throw JOSEError(.keyUnsupported, "no kind of key for it") }
        let key = try JOSEError.mapping { () throws(LibcryptoError) in try PrivateKey(generating: kind) }
        return try SigningKey(KeyMaterial(.private(key)), allowed: [algorithm], keyID: keyID)
    }

    /// Reads one private key, whose form is recognised by its content: PEM, DER or JWK.
    ///
    /// - Parameters:
    ///   - bytes: the key.
    ///   - algorithm: the algorithm to use. If nil, the key's own `alg`, or else the default for its kind.
    ///   - keyID: the `kid`. If nil, that of the JWK, or else the thumbprint.
    ///   - passphrase: the passphrase of an encrypted key.
    /// - Throws: ``JOSEError/Code/keyUnreadable`` for anything else, ``JOSEError/Code/passphrase`` if one is missing
    ///   or wrong, ``JOSEError/Code/keyUnsupported``, ``JOSEError/Code/keyUnsound`` or ``JOSEError/Code/keyUse`` for a
    ///   key that may not sign, ``JOSEError/Code/algorithmMismatch`` for an algorithm that does not fit the key, and
    ///   ``JOSEError/Code/privateKeyMissing`` for a public key.
    public init(
        parsing bytes: some Collection<UInt8>, algorithm: SignatureAlgorithm? = nil, keyID: String? = nil,
        passphrase: [UInt8]? = nil
    ) throws(JOSEError) {
        let material = try KeyMaterial(parsing: Array(bytes), passphrase: passphrase, for: .sign)
        try self.init(material, allowed: algorithm.map { [$0] } ?? [], keyID: keyID)
    }

    /// Reads a PEM text: PKCS#8, encrypted PKCS#8, SEC1 or PKCS#1.
    ///
    /// Arguments and errors are those of ``init(parsing:algorithm:keyID:passphrase:)``.
    public init(
        pem: String, passphrase: [UInt8]? = nil, algorithm: SignatureAlgorithm? = nil, keyID: String? = nil
    ) throws(JOSEError) {
        try self.init(parsing: pem.utf8, algorithm: algorithm, keyID: keyID, passphrase: passphrase)
    }

    /// Reads a private JSON Web Key (RFC 7517 section 4, RFC 7518 section 6).
    ///
    /// - Parameters:
    ///   - jwk: the key, with its private members.
    ///   - algorithm: the algorithm to use. If nil, the key's `alg`, or else the default for its kind.
    ///   - keyID: the `kid`. If nil, that of the JWK, or else the thumbprint.
    /// - Throws: ``JOSEError/Code/keyUse`` if `use` or `key_ops` do not allow signing, ``JOSEError/Code/keyUnsound``
    ///   if its members contradict each other, and the other errors of ``init(parsing:algorithm:keyID:passphrase:)``.
    public init(
        jwk: JSONObject, algorithm: SignatureAlgorithm? = nil, keyID: String? = nil
    ) throws(JOSEError) {
        try self.init(try JWK.material(of: jwk, for: .sign), allowed: algorithm.map { [$0] } ?? [], keyID: keyID)
    }

    /// A shared secret, at least as long as the digest (RFC 7518 section 3.2).
    ///
    /// - Parameters:
    ///   - secret: the bytes of the secret, not encoded.
    ///   - algorithm: one of the HMAC algorithms.
    ///   - keyID: the `kid`; nil for the thumbprint.
    /// - Throws: ``JOSEError/Code/keyUnsound`` for a secret that is too short, ``JOSEError/Code/algorithmMismatch``
    ///   for another algorithm.
    public init(secret: [UInt8], algorithm: SignatureAlgorithm, keyID: String? = nil) throws(JOSEError) {
        try self.init(KeyMaterial(.symmetric(secret)), allowed: [algorithm], keyID: keyID)
    }

    private init(_ material: KeyMaterial, allowed: [SignatureAlgorithm], keyID: String?) throws(JOSEError) {
        verificationKey = try VerificationKey(material, allowed: allowed, keyID: keyID)
        let members: JSONObject = [
            HeaderName.algorithm: .string(verificationKey.algorithm.rawValue),
            HeaderName.keyID: .string(verificationKey.keyID),
        ]
        headerMembers = Array(members.serializedBytes().dropFirst().dropLast())
        switch material.content {
        case .public: throw JOSEError(.privateKeyMissing, "a public key cannot sign")
        case .private(let key):
            guard let scheme = verificationKey.algorithm.scheme else {
                throw JOSEError(.algorithmMismatch, "a private key is not for the HMAC algorithms")
            }
            let signer = try JOSEError.mapping { () throws(LibcryptoError) in try SignatureSigner(key, scheme) }
            backend = .asymmetric(signer, key)
        case .symmetric(let secret):
            guard case .symmetric(let key) = verificationKey.backend else {
                throw JOSEError(.algorithmMismatch, "a shared secret is only for the HMAC algorithms")
            }
            backend = .symmetric(key, secret: secret)
        }
    }

    // MARK: Secret exports

    /// The private key as PKCS#8 in PEM, encrypted if a passphrase is given. Secret.
    ///
    /// - Throws: ``JOSEError/Code/keyUnsupported`` for a shared secret, which has no such form.
    public func pkcs8PEM(passphrase: [UInt8]? = nil) throws(JOSEError) -> String {
        let key = try privateKey()
        return try JOSEError.mapping { () throws(LibcryptoError) in try key.pkcs8PEM(passphrase: passphrase) }
    }

    /// The private key as PKCS#8 in DER, encrypted if a passphrase is given. Secret.
    ///
    /// - Throws: ``JOSEError/Code/keyUnsupported`` for a shared secret, which has no such form.
    public func pkcs8DER(passphrase: [UInt8]? = nil) throws(JOSEError) -> [UInt8] {
        let key = try privateKey()
        return try JOSEError.mapping { () throws(LibcryptoError) in try key.pkcs8DER(passphrase: passphrase) }
    }

    /// The whole key as a JWK, private members included. Secret.
    public func privateJWK() throws(JOSEError) -> JSONObject {
        switch backend {
        case .asymmetric(_, let key):
            var object = verificationKey.jwk ?? [:]
            for (name, value) in try JWK.privateMembers(of: key).members { object[name] = value }
            return object
        case .symmetric(_, let secret):
            return [
                JWKName.keyType: .string(JWKName.octets), JWKName.use: .string(JWKName.signature),
                JWKName.algorithm: .string(algorithm.rawValue), JWKName.keyID: .string(keyID),
                JWKName.secret: .string(Base64URL.encode(secret)),
            ]
        }
    }

    private func privateKey() throws(JOSEError) -> PrivateKey {
        guard case .asymmetric(_, let key) = backend else {
            throw JOSEError(.keyUnsupported, "a shared secret has no PKCS#8 form")
        }
        return key
    }
}

extension SigningKey: CustomStringConvertible, CustomReflectable {
    /// The algorithm and the `kid`.
    public var description: String { "SigningKey(\(algorithm.rawValue), \(keyID))" }
    /// Empty, so that `dump` does not show the secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
