extension SessionRecord {
    /// The columns in the order in which `init(row:)` reads and `values` writes them.
    static let columns = """
        id, state, tenant_id, user_id, created_at, last_seen_at, idle_timeout, absolute_expires_at, secret_hash, \
        previous_secret_hash, previous_secret_until, epoch, family_id, metadata, ended_at, version
        """

    init(row: SQLRow) throws {
        var row = row
        self.init(
            id: try row.text(), state: try row.word(StoredSessionState.self), tenantID: try row.optionalText(),
            userID: try row.optionalText(), createdAt: try row.integer(), lastSeenAt: try row.integer(),
            idleTimeout: try row.integer(), absoluteExpiresAt: try row.integer(), secretHash: try row.blob(),
            previousSecretHash: try row.optionalBlob(), previousSecretUntil: try row.optionalInteger(),
            epoch: try row.integer(), familyID: try row.optionalText(), metadata: try row.text(),
            endedAt: try row.optionalInteger(), version: try row.integer())
    }

    /// The values of the columns, followed by the derived `expires_at`.
    var values: [SQLValue] {
        [
            .text(id), .text(state.rawValue), .optional(tenantID), .optional(userID), .integer(createdAt),
            .integer(lastSeenAt), .integer(idleTimeout), .integer(absoluteExpiresAt), .blob(secretHash),
            .optional(previousSecretHash), .optional(previousSecretUntil), .integer(epoch), .optional(familyID),
            .text(metadata), .optional(endedAt), .integer(version), .integer(expiresAt),
        ]
    }
}

extension StoredSessionState {
    /// The SQL condition for a live session.
    static let isLiveSQL = "state IN ('anonymous', 'authenticated')"

    /// The SQL condition for a tombstone.
    static let isDeadSQL = "state NOT IN ('anonymous', 'authenticated')"

    /// The states as SQL from which this one can be reached. A state is never changed back.
    var reachableFromSQL: String {
        switch self {
        case .anonymous: "state = 'anonymous'"
        case .authenticated: Self.isLiveSQL
        case .ended: "state <> 'expired'"
        case .expired: "state <> 'ended'"
        }
    }
}
