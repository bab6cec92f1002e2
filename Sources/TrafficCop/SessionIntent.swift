import Libcrypto

/// What somebody wants to happen to a session, before anybody has agreed to it.
package struct SessionIntent: Sendable, Equatable {
    /// The ways in which a session comes to be or gains rights. There is no other road.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A new session without an owner.
        case anonymous
        /// A new session of a known user.
        case authenticated
        /// An anonymous session is given its owner.
        case upgrade
        /// The owner logs in again on a session that is already theirs.
        case resume
    }

    package let id: String
    package let kind: Kind
    /// The caller's address as limits are kept for it: see ``AddressBucket``.
    package let clientAddress: String
    package let sessionID: String?
    package let tenantID: String?
    package let userID: String?
    /// One JSON object: the metadata of a new session, or what is merged into that of an existing one.
    package let metadata: String
    /// SHA-256 over every field that says what is to happen, each with its length, so that none can run into the next.
    /// Taken once: no field of an intent ever changes.
    package let fieldsDigest: [UInt8]

    package init(
        kind: Kind, clientAddress: String, sessionID: String? = nil, tenantID: String? = nil, userID: String? = nil,
        metadata: String = "{}"
    ) {
        self.id = FieldDigest.hexadecimal(SecureRandom.bytes(16))
        self.kind = kind
        self.clientAddress = clientAddress
        self.sessionID = sessionID
        self.tenantID = tenantID
        self.userID = userID
        self.metadata = metadata
        var fields = FieldDigest()
        fields.append(kind.rawValue)
        fields.append(clientAddress)
        fields.append(sessionID)
        fields.append(tenantID)
        fields.append(userID)
        fields.append(metadata)
        self.fieldsDigest = Digest.sha256(fields.bytes)
    }

    /// Whether the fields are those that an intent of this kind has, no more and no fewer.
    package var isWellFormed: Bool {
        let hasOwner = self.tenantID?.isEmpty == false && self.userID?.isEmpty == false
        let hasNoOwner = self.tenantID == nil && self.userID == nil
        switch self.kind {
        case .anonymous: return self.sessionID == nil && hasNoOwner
        case .authenticated: return self.sessionID == nil && hasOwner
        case .upgrade, .resume: return self.sessionID?.isEmpty == false && hasOwner
        }
    }
}
