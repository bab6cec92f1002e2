/// The stored state of a session. It changes only in the order of the cases, never back.
package enum StoredSessionState: String, Sendable, Hashable {
    case anonymous, authenticated, ended, expired

    /// Whether a session in this state can still be used.
    package var isLive: Bool { self == .anonymous || self == .authenticated }
}

/// A session as it is stored.
package struct SessionRecord: Sendable, Equatable {
    /// The id, `ses_…`. It names the session and is not a credential.
    package var id: String
    /// The state.
    package var state: StoredSessionState
    /// The owner's tenant; nil for an anonymous session.
    package var tenantID: String?
    /// The owner; nil for an anonymous session.
    package var userID: String?
    /// When it was created.
    package var createdAt: Milliseconds
    /// When it was last used. It may be a minute behind.
    package var lastSeenAt: Milliseconds
    /// How long the session may be unused, in milliseconds.
    package var idleTimeout: Milliseconds
    /// When it ends regardless of use.
    package var absoluteExpiresAt: Milliseconds
    /// SHA-256 of the current session secret.
    package var secretHash: [UInt8]
    /// SHA-256 of the previous secret, which may repeat the same upgrade until ``previousSecretUntil``.
    package var previousSecretHash: [UInt8]?
    /// The end of the time in which the previous secret may be used.
    package var previousSecretUntil: Milliseconds?
    /// Increased by every change of privilege. Sockets and tickets of an older epoch are invalid.
    package var epoch: Int64
    /// The refresh family that the session is home or guest of.
    package var familyID: String?
    /// A JSON object of at most 1 KiB.
    package var metadata: String
    /// When it ended or was found expired; nil while it is live.
    package var endedAt: Milliseconds?
    /// The counter for compare-and-set. Every replacement increases it by one.
    package var version: Int64

    /// By default a session without an owner, with one secret, as it is when it was just created.
    package init(
        id: String, state: StoredSessionState, tenantID: String? = nil, userID: String? = nil,
        createdAt: Milliseconds, lastSeenAt: Milliseconds, idleTimeout: Milliseconds,
        absoluteExpiresAt: Milliseconds, secretHash: [UInt8], previousSecretHash: [UInt8]? = nil,
        previousSecretUntil: Milliseconds? = nil, epoch: Int64 = 0, familyID: String? = nil,
        metadata: String = "{}", endedAt: Milliseconds? = nil, version: Int64 = 0
    ) {
        self.id = id
        self.state = state
        self.tenantID = tenantID
        self.userID = userID
        self.createdAt = createdAt
        self.lastSeenAt = lastSeenAt
        self.idleTimeout = idleTimeout
        self.absoluteExpiresAt = absoluteExpiresAt
        self.secretHash = secretHash
        self.previousSecretHash = previousSecretHash
        self.previousSecretUntil = previousSecretUntil
        self.epoch = epoch
        self.familyID = familyID
        self.metadata = metadata
        self.endedAt = endedAt
        self.version = version
    }

    /// When the session expires: the earlier of the idle and the absolute end.
    package var expiresAt: Milliseconds {
        let (idle, overflow) = lastSeenAt.addingReportingOverflow(idleTimeout)
        return overflow ? absoluteExpiresAt : min(idle, absoluteExpiresAt)
    }
}
