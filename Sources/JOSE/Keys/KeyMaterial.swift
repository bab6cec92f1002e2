import Encodings
import Libcrypto

/// A key that was read and is not yet bound to an algorithm.
struct KeyMaterial: Sendable {
    enum Content: Sendable {
        case `public`(PublicKey)
        case `private`(PrivateKey)
        case symmetric([UInt8])
    }

    var content: Content
    var declaredAlgorithm: SignatureAlgorithm?
    var keyID: String?

    /// Reads a key, whose form is recognised by its content: JSON begins with a brace, DER with a SEQUENCE, and PEM has
    /// boundary lines.
    init(parsing bytes: [UInt8], passphrase: [UInt8]?, for operation: JWK.Operation) throws(JOSEError) {
        switch KeyForm(of: bytes) {
        case .json(let object):
            guard object[JWKName.keys] == nil else {
                throw JOSEError(.keyUnreadable, "a set of keys where one key is wanted")
            }
            self = try JWK.material(of: object, for: operation)
        case .der:
            self.init(
                try JOSEError.mapping { () throws(LibcryptoError) in
                    try KeyDecoder.decode(der: bytes, passphrase: passphrase)
                })
        case .pem:
            self.init(
                try JOSEError.mapping { () throws(LibcryptoError) in
                    try KeyDecoder.decode(pem: bytes, passphrase: passphrase)
                })
        case .unknown(let why):
            throw JOSEError(.keyUnreadable, why)
        }
    }

    init(_ content: Content, declaredAlgorithm: SignatureAlgorithm? = nil, keyID: String? = nil) {
        self.content = content
        self.declaredAlgorithm = declaredAlgorithm
        self.keyID = keyID
    }

    private init(_ decoded: DecodedKey) {
        switch decoded {
        case .public(let key): self.init(Content.public(key))
        case .private(let key): self.init(Content.private(key))
        }
    }
}
