import Encodings
import Libcrypto

/// A key that verifies, bound to one algorithm.
public struct VerificationKey: Sendable {
    /// The algorithm of the key. A token with another `alg` is refused (RFC 8725 section 3.1).
    public let algorithm: SignatureAlgorithm
    /// The `kid`: as given, or that of the JWK, or else the thumbprint.
    public let keyID: String
    /// The SHA-256 thumbprint of RFC 7638.
    public let thumbprint: String
    /// The public JWK; nil for a shared secret.
    public let jwk: JSONObject?
    let backend: Backend

    enum Backend: Sendable {
        case asymmetric(SignatureVerifier, PublicKey)
        case symmetric(HMACKey)
    }

    /// Whether signer and verifier use the same secret.
    public var isSymmetric: Bool { algorithm.isSymmetric }

    // MARK: Reading

    /// Reads one key, whose form is recognised by its content: PEM, DER or JWK. Of a private key only the public key is
    /// kept.
    ///
    /// - Parameters:
    ///   - bytes: the key.
    ///   - algorithms: the algorithms accepted. A key without `alg` gets the first that fits it. If empty, the key's
    ///     own `alg` is accepted, or else the default for its kind.
    ///   - keyID: the `kid`. If nil, that of the JWK, or else the thumbprint.
    ///   - passphrase: the passphrase of an encrypted private key.
    /// - Throws: ``JOSEError/Code/keyUnreadable`` for anything else, ``JOSEError/Code/passphrase`` if one is missing
    ///   or wrong, ``JOSEError/Code/keyUnsupported``, ``JOSEError/Code/keyUnsound`` or ``JOSEError/Code/keyUse`` for a
    ///   key that may not verify, ``JOSEError/Code/algorithmMismatch`` if none of the algorithms fits the key.
    public init(
        parsing bytes: some Collection<UInt8>, algorithms: [SignatureAlgorithm] = [], keyID: String? = nil,
        passphrase: [UInt8]? = nil
    ) throws(JOSEError) {
        let material = try KeyMaterial(parsing: Array(bytes), passphrase: passphrase, for: .verify)
        try self.init(material, allowed: algorithms, keyID: keyID)
    }

    /// Reads a PEM text: `PUBLIC KEY`, PKCS#1, or a private key in one of the forms that ``SigningKey`` reads.
    ///
    /// Arguments and errors are those of ``init(parsing:algorithms:keyID:passphrase:)``; `algorithm` is the only one
    /// accepted.
    public init(
        pem: String, algorithm: SignatureAlgorithm? = nil, keyID: String? = nil, passphrase: [UInt8]? = nil
    ) throws(JOSEError) {
        try self.init(
            parsing: pem.utf8, algorithms: algorithm.map { [$0] } ?? [], keyID: keyID, passphrase: passphrase)
    }

    /// Reads a DER structure: a SubjectPublicKeyInfo, or another that PEM blocks have inside.
    ///
    /// Arguments and errors are those of ``init(parsing:algorithms:keyID:passphrase:)``; `algorithm` is the only one
    /// accepted.
    public init(
        der: [UInt8], algorithm: SignatureAlgorithm? = nil, keyID: String? = nil, passphrase: [UInt8]? = nil
    ) throws(JOSEError) {
        try self.init(parsing: der, algorithms: algorithm.map { [$0] } ?? [], keyID: keyID, passphrase: passphrase)
    }

    /// Reads a JSON Web Key (RFC 7517 section 4, RFC 7518 section 6).
    ///
    /// - Parameters:
    ///   - jwk: the key. Private members are checked and not kept.
    ///   - algorithm: the only algorithm accepted. If nil, the key's `alg`, or else the default for its kind.
    ///   - keyID: the `kid`. If nil, that of the JWK, or else the thumbprint.
    /// - Throws: ``JOSEError/Code/keyUse`` if `use` or `key_ops` do not allow verifying, and the other errors of
    ///   ``init(parsing:algorithms:keyID:passphrase:)``.
    public init(
        jwk: JSONObject, algorithm: SignatureAlgorithm? = nil, keyID: String? = nil
    ) throws(JOSEError) {
        try self.init(
            try JWK.material(of: jwk, for: .verify), allowed: algorithm.map { [$0] } ?? [], keyID: keyID)
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

    init(_ material: KeyMaterial, allowed: [SignatureAlgorithm], keyID: String?) throws(JOSEError) {
        switch material.content {
        case .public(let key):
            try self.init(key, declared: material.declaredAlgorithm, allowed, keyID: keyID ?? material.keyID)
        case .private(let key):
            try self.init(key.publicKey, declared: material.declaredAlgorithm, allowed, keyID: keyID ?? material.keyID)
        case .symmetric(let secret):
            try self.init(secret, declared: material.declaredAlgorithm, allowed, keyID: keyID ?? material.keyID)
        }
    }

    private init(
        _ secret: [UInt8], declared: SignatureAlgorithm?, _ allowed: [SignatureAlgorithm], keyID: String?
    ) throws(JOSEError) {
        let algorithm = try AlgorithmChoice.symmetricAlgorithm(
            byteCount: secret.count, declared: declared, allowed: allowed)
        guard let digest = algorithm.hmacDigest else {
            throw JOSEError(.algorithmMismatch, "a shared secret is only for the HMAC algorithms")
        }
        self.algorithm = algorithm
        thumbprint = JWK.thumbprint(ofSecret: secret)
        self.keyID = keyID ?? thumbprint
        jwk = nil
        backend = .symmetric(try JOSEError.mapping { () throws(LibcryptoError) in try HMACKey(digest, key: secret) })
    }

    private init(
        _ key: PublicKey, declared: SignatureAlgorithm?, _ allowed: [SignatureAlgorithm], keyID: String?
    ) throws(JOSEError) {
        let algorithm = try AlgorithmChoice.algorithm(for: key.kind, declared: declared, allowed: allowed)
        guard let scheme = algorithm.scheme else {
            throw JOSEError(.algorithmMismatch, "a public key is not for the HMAC algorithms")
        }
        let members = try JWK.requiredMembers(of: key)
        self.algorithm = algorithm
        thumbprint = JWK.thumbprint(of: members)
        self.keyID = keyID ?? thumbprint
        jwk = JWK.published(members, algorithm: algorithm, keyID: self.keyID)
        backend = .asymmetric(
            try JOSEError.mapping { () throws(LibcryptoError) in try SignatureVerifier(key, scheme) }, key)
    }

    // MARK: Writing

    /// The public key as a PEM `PUBLIC KEY` block (RFC 7468 section 13).
    ///
    /// - Throws: ``JOSEError/Code/keyUnsupported`` for a shared secret, which has no public half.
    public func pem() throws(JOSEError) -> String {
        let key = try publicKey()
        return try JOSEError.mapping { () throws(LibcryptoError) in try key.pem() }
    }

    /// The public key as a DER SubjectPublicKeyInfo (RFC 5280 section 4.1).
    ///
    /// - Throws: ``JOSEError/Code/keyUnsupported`` for a shared secret, which has no public half.
    public func der() throws(JOSEError) -> [UInt8] {
        let key = try publicKey()
        return try JOSEError.mapping { () throws(LibcryptoError) in try key.der() }
    }

    private func publicKey() throws(JOSEError) -> PublicKey {
        guard case .asymmetric(_, let key) = backend else {
            throw JOSEError(.keyUnsupported, "a shared secret has no public half")
        }
        return key
    }

    // MARK: Verifying

    /// The exact length of a signature, in bytes.
    var signatureByteCount: Int {
        switch backend {
        case .asymmetric(let verifier, _): verifier.signatureByteCount
        case .symmetric(let key): key.digest.byteCount
        }
    }

    /// Whether `signature` is valid for `message`.
    func isValid(_ signature: UnsafeBufferPointer<UInt8>, for message: UnsafeBufferPointer<UInt8>) -> Bool {
        switch backend {
        case .asymmetric(let verifier, _): verifier.isValid(buffer: signature, for: message)
        case .symmetric(let key): key.isValid(Array(signature), for: message)
        }
    }
}
