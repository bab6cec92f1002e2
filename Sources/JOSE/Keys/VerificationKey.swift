import Encodings
import Libcrypto

/// A key that verifies, bound to its one algorithm.
public struct VerificationKey: Sendable {
    /// The one algorithm of the key; a token that says another is refused, whatever the key could do.
    public let algorithm: SignatureAlgorithm
    /// The `kid`; the thumbprint unless the key says otherwise.
    public let keyID: String
    /// The SHA-256 thumbprint of RFC 7638.
    public let thumbprint: String
    /// The public JWK; nil for a shared secret, of which nothing is public.
    public let jwk: JSONObject?
    let backend: Backend

    enum Backend: Sendable {
        case asymmetric(SignatureVerifier, PublicKey)
        case symmetric(HMACKey)
    }

    /// Whether signer and verifier share one secret.
    public var isSymmetric: Bool { algorithm.isSymmetric }

    // MARK: Reading

    /// Reads one key in any form, told apart by content: PEM, DER or JWK.
    ///
    /// Of a private key only the public half is kept.
    ///
    /// - Parameters:
    ///   - bytes: the key.
    ///   - algorithms: what is accepted, the first that fits being taken for a key that does not say; none accepts
    ///     the key's own `alg`, else the usual algorithm of its kind.
    ///   - keyID: a name of its own; without it the JWK's `kid`, else the thumbprint.
    ///   - passphrase: for encrypted private keys.
    public init(
        parsing bytes: some Collection<UInt8>, algorithms: [SignatureAlgorithm] = [], keyID: String? = nil,
        passphrase: [UInt8]? = nil
    ) throws(JOSEError) {
        let material = try KeyMaterial(parsing: Array(bytes), passphrase: passphrase, for: .verify)
        try self.init(material, allowed: algorithms, keyID: keyID)
    }

    /// Reads a PEM text.
    public init(
        pem: String, algorithm: SignatureAlgorithm? = nil, keyID: String? = nil, passphrase: [UInt8]? = nil
    ) throws(JOSEError) {
        try self.init(
            parsing: pem.utf8, algorithms: algorithm.map { [$0] } ?? [], keyID: keyID, passphrase: passphrase)
    }

    /// Reads a DER structure.
    public init(
        der: [UInt8], algorithm: SignatureAlgorithm? = nil, keyID: String? = nil, passphrase: [UInt8]? = nil
    ) throws(JOSEError) {
        try self.init(parsing: der, algorithms: algorithm.map { [$0] } ?? [], keyID: keyID, passphrase: passphrase)
    }

    /// Reads a JSON Web Key.
    public init(
        jwk: JSONObject, algorithm: SignatureAlgorithm? = nil, keyID: String? = nil
    ) throws(JOSEError) {
        try self.init(
            try JWK.material(of: jwk, for: .verify), allowed: algorithm.map { [$0] } ?? [], keyID: keyID)
    }

    /// Takes a shared secret, at least as long as the digest.
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

    /// The public key as a PEM `PUBLIC KEY` block.
    public func pem() throws(JOSEError) -> String {
        let key = try publicKey()
        return try JOSEError.mapping { () throws(LibcryptoError) in try key.pem() }
    }

    /// The public key as a DER SubjectPublicKeyInfo.
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

    /// How long a signature is.
    var signatureByteCount: Int {
        switch backend {
        case .asymmetric(let verifier, _): verifier.signatureByteCount
        case .symmetric(let key): key.digest.byteCount
        }
    }

    /// Whether `signature` is the key's over `message`.
    func isValid(_ signature: UnsafeBufferPointer<UInt8>, for message: UnsafeBufferPointer<UInt8>) -> Bool {
        switch backend {
        case .asymmetric(let verifier, _): verifier.isValid(buffer: signature, for: message)
        case .symmetric(let key): key.isValid(Array(signature), for: message)
        }
    }
}
