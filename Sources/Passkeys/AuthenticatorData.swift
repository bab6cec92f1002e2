import Libcrypto

/// What an authenticator says about a ceremony (WebAuthn Level 3 §6.1).
struct AuthenticatorData: Sendable {
    /// The longest form, in bytes: a long credential id, a large RSA key, some extensions.
    static let maximumBytes = 4096
    /// Hash, flags and counter.
    private static let headByteCount = 37

    /// Bit 0, UP: a person was present.
    let isUserPresent: Bool
    /// Bit 2, UV: the authenticator verified the person, by PIN or biometry.
    let isUserVerified: Bool
    /// Bit 3, BE: the credential may be copied to other devices.
    let isBackupEligible: Bool
    /// Bit 4, BS: it was.
    let isBackedUp: Bool
    let signCount: UInt32
    let relyingPartyHash: [UInt8]
    /// Bit 6, AT: there is a new credential.
    let attested: AttestedCredential?

    /// The beginning of the attested credential data (§6.5.1). The public key behind it is COSE in CBOR and is not
    /// read: see ``Registration``.
    struct AttestedCredential: Sendable {
        let aaguid: [UInt8]
        let credentialID: [UInt8]
    }

    /// Reads the bytes.
    init(_ bytes: [UInt8]) throws(PasskeyRefusal) {
        guard (Self.headByteCount...Self.maximumBytes).contains(bytes.count) else { throw .authenticatorDataMalformed }
        relyingPartyHash = Array(bytes[..<32])
        let flags = bytes[32]
        isUserPresent = flags & 0x01 != 0
        isUserVerified = flags & 0x04 != 0
        isBackupEligible = flags & 0x08 != 0
        isBackedUp = flags & 0x10 != 0
        signCount = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        var rest = bytes[Self.headByteCount...]
        attested = flags & 0x40 == 0 ? nil : try Self.attested(&rest)
        // A new credential has a key behind it, extensions are announced by bit 7 (ED), and there is nothing else.
        let hasMore = flags & 0xC0 != 0
        guard rest.isEmpty != hasMore else { throw .authenticatorDataMalformed }
    }

    private static func attested(_ rest: inout ArraySlice<UInt8>) throws(PasskeyRefusal) -> AttestedCredential {
        guard rest.count >= 18 else { throw .authenticatorDataMalformed }
        let aaguid = Array(rest.prefix(16))
        let length = rest.dropFirst(16).prefix(2).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(18)
        guard (1...Passkey.maximumIDBytes).contains(length), rest.count > length else {
            throw .authenticatorDataMalformed
        }
        let credentialID = Array(rest.prefix(length))
        rest = rest.dropFirst(length)
        return AttestedCredential(aaguid: aaguid, credentialID: credentialID)
    }

    /// Judges what is the same for both ceremonies.
    func refusal(_ party: RelyingParty) -> PasskeyRefusal? {
        guard ConstantTime.equal(relyingPartyHash, Digest.sha256(party.id.utf8)) else { return .relyingPartyMismatch }
        guard isUserPresent else { return .userNotPresent }
        guard isUserVerified || !party.requiresUserVerification else { return .userNotVerified }
        return isBackedUp && !isBackupEligible ? .backupStateImpossible : nil
    }
}
