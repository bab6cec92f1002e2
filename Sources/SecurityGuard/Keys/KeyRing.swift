import Encodings
import JOSE
import Libcrypto

/// An immutable snapshot of the keys: the one that signs, those that verify, and their JWKS.
package final class KeyRing: Sendable {
    /// A number that increases with every snapshot.
    package let generation: UInt64
    /// The key that signs new tokens.
    package let signingKey: SigningKey
    /// All keys of the ring, which are kept if a file of the directory can no longer be read.
    let loaded: [SigningKey]
    /// The keys that verify: active, next and retiring.
    package let verificationKeys: [VerificationKey]
    /// The body of `/.well-known/jwks.json`.
    package let jwks: [UInt8]
    /// Its strong entity tag, quotes included.
    package let etag: String
    /// When a new snapshot is needed although no file changes; nil if never.
    package let changesAt: Int64?
    /// The thumbprints of all signing keys that the directory lists.
    let knownKeyIDs: Set<String>
    /// The thumbprints of those that another key has replaced.
    let supersededKeyIDs: Set<String>
    /// The keys that no operator has retired: those of the ring, and those whose tokens have all expired.
    private let unretiredKeys: Set<KeyNumber>
    /// The keys that were retired while this process ran. Sockets that were opened with their tokens end.
    package let retiredKeys: Set<KeyNumber>

    /// - Parameter old: the snapshot that this one replaces.
    init(_ contents: KeyDirectory.Contents, generation: UInt64, after old: KeyRing? = nil) throws(GuardError) {
        let active = contents.plan.active
        guard let signing = contents.keys.first(where: { $0.entry == active }) else {
            throw GuardError(.keyState, "there is no active key")
        }
        self.generation = generation
        signingKey = signing.key
        loaded = contents.keys.map(\.key)
        verificationKeys = contents.keys.map(\.key.verificationKey)
        jwks = Array(JWKSet.publicJSON(of: verificationKeys).utf8)
        etag = "\"\(Base64URL.encode(Digest.sha256(jwks).prefix(16)))\""
        changesAt = contents.plan.changesAt
        knownKeyIDs = Set(contents.plan.keys.map(\.entry.keyID))
        let superseded = contents.plan.keys.filter { $0.state == .retiring || $0.state == .retired }
        supersededKeyIDs = Set(superseded.map(\.entry.keyID))
        // A key that ended by itself ends no sockets: those that are still open were extended by newer tokens.
        let expired = contents.plan.keys.filter { $0.state == .retired && $0.entry.retiredAt == nil }
        let thumbprints = contents.keys.map(\.key.verificationKey.thumbprint) + expired.map(\.entry.keyID)
        let unretired = Set(thumbprints.map { KeyNumber(thumbprint: $0) })
        unretiredKeys = unretired
        retiredKeys = old.map { $0.retiredKeys.union($0.unretiredKeys).subtracting(unretired) } ?? []
    }

    /// The key with exactly this `kid`, or nil. There are few keys, so a linear search is faster than a table.
    func key(id: String) -> VerificationKey? {
        guard id.utf8.count <= 128 else { return nil }
        return verificationKeys.first { sameBytes($0.keyID, id) }
    }

    func verifies(thumbprint: String) -> Bool {
        verificationKeys.contains { sameBytes($0.thumbprint, thumbprint) }
    }

    /// Whether both sign and verify with the same keys.
    func isEquivalent(to other: KeyRing) -> Bool {
        jwks == other.jwks
            && sameBytes(signingKey.verificationKey.thumbprint, other.signingKey.verificationKey.thumbprint)
    }
}
