import Encodings
import JOSE
import Libcrypto
import Synchronization

/// An immutable snapshot of the keys: which one signs, which verify, and the JWKS that says so.
package final class KeyRing: Sendable {
    /// Grows with every snapshot; equal generations mean equal keys.
    package let generation: UInt64
    package let signingKey: SigningKey
    /// Every key of the ring, for a directory one of whose files can't be read any more.
    let loaded: [SigningKey]
    /// Everything that verifies: active, next and retiring.
    package let verificationKeys: [VerificationKey]
    /// The body of `/.well-known/jwks.json`.
    package let jwks: [UInt8]
    /// Its strong entity tag, quotes included.
    package let etag: String
    /// When it has to be made anew although no file changes.
    package let changesAt: Int64?
    /// Thumbprints of everything the directory ever held as a signing key and still lists.
    let knownKeyIDs: Set<String>
    /// Those of them in whose place another one signs.
    let supersededKeyIDs: Set<String>
    /// Keys whose tokens may still be believed, and those that outlived all of their tokens.
    private let standing: Set<KeyNumber>
    /// Keys that were taken out of service while this process ran: what rests on a token of theirs is over.
    package let fallen: Set<KeyNumber>

    /// - Parameter old: the snapshot in whose place this one comes.
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
        // A key whose time was over ends nothing: what still rests on it was prolonged since, by newer tokens.
        let outlived = contents.plan.keys.filter { $0.state == .retired && $0.entry.retiredAt == nil }
        let thumbprints = contents.keys.map(\.key.verificationKey.thumbprint) + outlived.map(\.entry.keyID)
        let standing = Set(thumbprints.map { KeyNumber(thumbprint: $0) })
        self.standing = standing
        fallen = old.map { $0.fallen.union($0.standing).subtracting(standing) } ?? []
    }

    /// The key of exactly this `kid`. There are few keys: a walk is quicker than a table, and compares bytes.
    func key(id: String) -> VerificationKey? {
        guard id.utf8.count <= 128 else { return nil }
        return verificationKeys.first { sameBytes($0.keyID, id) }
    }

    func verifies(thumbprint: String) -> Bool {
        verificationKeys.contains { sameBytes($0.thumbprint, thumbprint) }
    }

    /// Whether tokens are signed and verified with the same keys as there.
    func isEquivalent(to other: KeyRing) -> Bool {
        jwks == other.jwks
            && sameBytes(signingKey.verificationKey.thumbprint, other.signingKey.verificationKey.thumbprint)
    }
}

/// Where the current snapshot lies.
final class KeyRingHolder: Sendable {
    private let current: Mutex<KeyRing>
    private let generation: Atomic<UInt64>

    init(_ ring: KeyRing) {
        current = Mutex(ring)
        generation = Atomic(ring.generation)
    }

    var ring: KeyRing { current.withLock { $0 } }
    /// One atomic read: for whoever only wants to know whether something changed.
    var currentGeneration: UInt64 { generation.load(ordering: .acquiring) }

    func install(_ ring: KeyRing) {
        current.withLock { $0 = ring }
        generation.store(ring.generation, ordering: .releasing)
    }
}
