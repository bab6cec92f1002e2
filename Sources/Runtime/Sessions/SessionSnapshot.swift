import Encodings
import StateSurface

/// The data of a session that may be shown, at one moment. It contains neither a secret nor a hash of one.
package struct SessionSnapshot: Sendable, Equatable {
    /// The id, `ses_` and 22 characters: an address, no secret.
    package let id: String
    /// Anonymous, authenticated, ended or expired.
    package let state: SessionState
    /// The owner's tenant; nil while the session is anonymous.
    package let tenantID: String?
    /// The owner; nil while the session is anonymous.
    package let userID: String?
    /// When it was created.
    package let createdAt: Milliseconds
    /// When it expires if it is not used until then; never after ``absoluteExpiresAt``.
    package private(set) var expiresAt: Milliseconds
    /// When it expires regardless of use.
    package let absoluteExpiresAt: Milliseconds
    /// When it was last used, as far as this node knows.
    package private(set) var lastSeenAt: Milliseconds
    private let idleTimeout: Milliseconds
    /// What its client has stored with it.
    package let metadata: JSONObject
    /// The epoch, which is increased by every change of privilege.
    package let epoch: Int64
    /// The refresh family that it is home or guest of.
    package let familyID: String?

    init(_ record: SessionRecord) {
        self.id = record.id
        self.state = SessionState(record.state)
        self.tenantID = record.tenantID
        self.userID = record.userID
        self.createdAt = record.createdAt
        self.expiresAt = record.expiresAt
        self.absoluteExpiresAt = record.absoluteExpiresAt
        self.lastSeenAt = record.lastSeenAt
        self.idleTimeout = record.idleTimeout
        self.metadata = SessionMetadata.stored(record.metadata)
        self.epoch = record.epoch
        self.familyID = record.familyID
    }

    /// Whether this user of this tenant is the owner, compared byte for byte.
    package func isOwned(tenantID: String, userID: String) -> Bool {
        SessionOwner(tenantID: tenantID, userID: userID).owns(tenantID: self.tenantID, userID: self.userID)
    }

    /// The session after a use, which extends it up to its absolute end.
    func used(at now: Milliseconds) -> SessionSnapshot {
        guard state.isLive, now > lastSeenAt else { return self }
        var used = self
        used.lastSeenAt = now
        used.expiresAt = min(SessionLifecycle.saturating(now, plus: idleTimeout), absoluteExpiresAt)
        return used
    }

    /// The session as JSON for its owner, as returned by `session.describe`.
    package func json() -> JSONObject {
        [
            "session_id": .string(id),
            "state": .string(state.rawValue),
            "tenant_id": tenantID.map(JSONValue.string) ?? .null,
            "user_id": userID.map(JSONValue.string) ?? .null,
            "created_at": .string(Timestamp.text(createdAt)),
            "expires_at": .string(Timestamp.text(expiresAt)),
            "last_seen_at": .string(Timestamp.text(lastSeenAt)),
            "metadata": .object(metadata),
        ]
    }
}

/// A session together with the secret that was just made for it.
package struct IssuedSession: Sendable {
    /// The session as it was written.
    package let session: SessionSnapshot
    /// The secret, to be sent to the client and not kept.
    package let secret: SessionSecret
}
