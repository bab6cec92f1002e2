import Encodings
import Libcrypto

/// A set of verification keys (RFC 7517 section 5), found by `kid`.
public struct JWKSet: Sendable {
    /// What happens to a key that cannot be used. It depends on where the set comes from.
    public enum Policy: Sendable {
        /// The operator's own set: a key that cannot be used makes the set refused, so that the mistake is noticed.
        /// Keys for other uses, such as encryption, are skipped.
        case local
        /// A set published by an issuer: a key that cannot be used is skipped, so that the others stay usable. A shared
        /// secret makes the set refused, because a published secret is none.
        case remote
    }

    /// The largest number of keys in a set.
    public static let maximumKeys = 100

    /// The keys in their order.
    public let keys: [VerificationKey]
    /// Why keys were skipped, in the order of the set.
    public let skipped: [JOSEError]
    private let places: [ByteName: Int]

    /// A set of keys.
    ///
    /// - Throws: ``JOSEError/Code/duplicateKeyID`` if two keys have the same `kid`, ``JOSEError/Code/mixedKeySet`` if
    ///   there are shared secrets and public keys.
    public init(_ keys: [VerificationKey]) throws(JOSEError) {
        try self.init(keys, skipped: [])
    }

    /// Reads a JWKS (RFC 7517 section 5).
    ///
    /// - Parameters:
    ///   - bytes: the JSON text, an object with `keys`.
    ///   - policy: what happens to keys that cannot be used.
    ///   - algorithms: the algorithms accepted; empty for all that are on by default.
    /// - Throws: ``JOSEError/Code/keyUnreadable`` for a text that is no key set, of more than 256 KiB or more than
    ///   ``maximumKeys`` keys; the errors of ``init(_:)``; under ``Policy/local`` the error of the first key that can't
    ///   be used.
    public init(
        parsing bytes: some Collection<UInt8>, policy: Policy, algorithms: [SignatureAlgorithm] = []
    ) throws(JOSEError) {
        let object: JSONObject
        do throws(JSONError) {
            object = try StrictJSON.object(bytes, limits: KeyForm.limits)
        } catch {
            throw JOSEError(.keyUnreadable, "not readable as JSON: \(error)")
        }
        try self.init(object, policy, algorithms)
    }

    /// Reads a key file, whose form is recognised by its content: PEM, DER, JWK or JWKS. Such a set is read under
    /// ``Policy/local``.
    ///
    /// - Parameters:
    ///   - bytes: the content of the file.
    ///   - algorithms: the algorithms accepted; empty for all that are on by default.
    ///   - passphrase: the passphrase of an encrypted private key.
    public init(
        file bytes: some Collection<UInt8>, algorithms: [SignatureAlgorithm] = [], passphrase: [UInt8]? = nil
    ) throws(JOSEError) {
        let bytes = Array(bytes)
        if case .json(let object) = KeyForm(of: bytes), object[JWKName.keys] != nil {
            try self.init(object, .local, algorithms)
        } else {
            try self.init([try VerificationKey(parsing: bytes, algorithms: algorithms, passphrase: passphrase)])
        }
    }

    private init(_ object: JSONObject, _ policy: Policy, _ algorithms: [SignatureAlgorithm]) throws(JOSEError) {
        guard case .array(let entries)? = object[JWKName.keys] else {
            throw JOSEError(.keyUnreadable, "a key set without an array of keys")
        }
        guard entries.count <= Self.maximumKeys else {
            throw JOSEError(.keyUnreadable, "a key set of more than \(Self.maximumKeys) keys")
        }
        try Self.refuseMixture(entries, policy)
        var keys: [VerificationKey] = []
        var skipped: [JOSEError] = []
        for entry in entries {
            do throws(JOSEError) {
                guard case .object(let jwk) = entry else { throw JOSEError(.keyUnreadable, "a key that is no object") }
                keys.append(
                    try VerificationKey(try JWK.material(of: jwk, for: .verify), allowed: algorithms, keyID: nil))
            } catch {
                guard policy == .remote || error.code == .keyUse else { throw error }
                skipped.append(error)
            }
        }
        try self.init(keys, skipped: skipped)
    }

    /// Checks the `kty` of every key, also of those that will be skipped.
    private static func refuseMixture(_ entries: [JSONValue], _ policy: Policy) throws(JOSEError) {
        let types = entries.compactMap { $0.objectValue?[JWKName.keyType]?.stringValue }
        let secrets = types.count { $0.hasSameBytes(as: JWKName.octets) }
        guard secrets == 0 || secrets == entries.count else {
            throw JOSEError(.mixedKeySet, "shared secrets and public keys in one set")
        }
        guard secrets == 0 || policy == .local else {
            throw JOSEError(.mixedKeySet, "shared secrets in a published set")
        }
    }

    private init(_ keys: [VerificationKey], skipped: [JOSEError]) throws(JOSEError) {
        var places: [ByteName: Int] = [:]
        for (index, key) in keys.enumerated() {
            guard places.updateValue(index, forKey: ByteName(key.keyID)) == nil else {
                throw JOSEError(.duplicateKeyID, "two keys with one kid in a set")
            }
        }
        guard Set(keys.map(\.isSymmetric)).count <= 1 else {
            throw JOSEError(.mixedKeySet, "shared secrets and public keys in one set")
        }
        self.keys = keys
        self.skipped = skipped
        self.places = places
    }

    // MARK: Finding

    /// The key with exactly this `kid`, or nil.
    public subscript(keyID keyID: String) -> VerificationKey? {
        places[ByteName(keyID)].map { keys[$0] }
    }

    /// The key for a token: the one that its `kid` names. A token without `kid` gets the key of a set of one.
    ///
    /// - Returns: the key, or a refusal with ``TokenRefusal/Reason/keyUnknown``.
    public func key(for header: ProtectedHeader) -> Result<VerificationKey, TokenRefusal> {
        if let keyID = header.keyID {
            guard let key = self[keyID: keyID] else {
                return .failure(TokenRefusal(.keyUnknown, "no key has this kid"))
            }
            return .success(key)
        }
        guard let key = keys.first, keys.count == 1 else {
            return .failure(TokenRefusal(.keyUnknown, "the token has no kid, and there is not exactly one key"))
        }
        return .success(key)
    }

    // MARK: Publishing

    /// The JWKS to publish, as JSON text: public members only. Shared secrets are left out.
    public static func publicJSON(of keys: [VerificationKey]) -> String {
        let published = keys.compactMap(\.jwk).map(JSONValue.object)
        return (["keys": .array(published)] as JSONObject).serialized()
    }
}
