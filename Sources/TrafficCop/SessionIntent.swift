import Encodings
import Libcrypto

/// A request to create a session or to give one an owner, before Traffic Cop has decided on it.
package struct SessionIntent: Sendable, Equatable {
    /// The only ways in which a session is created or gains rights.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Create a session without an owner.
        case anonymous
        /// Create a session for a known user.
        case authenticated
        /// Give an anonymous session its owner.
        case upgrade
        /// The owner of a session logs in to it again.
        case resume
    }

    /// 128 random bits in hexadecimal.
    package let id: String
    /// What is to be done.
    package let kind: Kind
    /// The caller's ``AddressBucket``.
    package let clientAddress: String
    /// The session to upgrade or resume; nil where a session is created.
    package let sessionID: String?
    /// The owner's tenant; nil for ``Kind/anonymous``.
    package let tenantID: String?
    /// The owner within the tenant; nil for ``Kind/anonymous``.
    package let userID: String?
    /// A JSON object as text: the metadata of a new session, or what is merged into that of an existing one.
    package let metadata: String
    /// SHA-256 over every field but the id, each preceded by its length. Computed once, as the fields are constant.
    package let fieldsDigest: [UInt8]

    /// An intent with a new random id. Whether the fields fit the kind is checked by ``isWellFormed``, not here.
    package init(
        kind: Kind, clientAddress: String, sessionID: String? = nil, tenantID: String? = nil, userID: String? = nil,
        metadata: String = "{}"
    ) {
        self.id = Hexadecimal.text(SecureRandom.bytes(16))
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

    /// Whether the intent has exactly the fields that its kind requires.
    package var isWellFormed: Bool {
        let hasOwner = tenantID?.isEmpty == false && userID?.isEmpty == false
        let hasNoOwner = tenantID == nil && userID == nil
        switch kind {
        case .anonymous: return sessionID == nil && hasNoOwner
        case .authenticated: return sessionID == nil && hasOwner
        case .upgrade, .resume: return sessionID?.isEmpty == false && hasOwner
        }
    }
}
