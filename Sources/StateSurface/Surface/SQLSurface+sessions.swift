extension SQLSurface {
    private static let insertSQL =
        "INSERT INTO sessions (\(SessionRecord.columns), expires_at) VALUES (\(parameters(17)))"
    private static let byIDSQL = "SELECT \(SessionRecord.columns) FROM sessions WHERE id = ?1"
    private static let bySecretSQL = """
        SELECT \(SessionRecord.columns) FROM sessions WHERE secret_hash = ?1 OR previous_secret_hash = ?1 LIMIT 1
        """
    // Each is made once: a text of its own for every write would have to be built and hashed anew.
    private static let replaceByAnonymousSQL = makeReplaceSQL(.anonymous)
    private static let replaceByAuthenticatedSQL = makeReplaceSQL(.authenticated)
    private static let replaceByEndedSQL = makeReplaceSQL(.ended)
    private static let replaceByExpiredSQL = makeReplaceSQL(.expired)
    private static let byOwnerSQL = """
        SELECT \(SessionRecord.columns) FROM sessions WHERE user_id = ?1 AND tenant_id = ?2
        AND \(StoredSessionState.isLiveSQL) AND expires_at > ?3 ORDER BY created_at DESC, id LIMIT ?4
        """
    /// Whether the account is disabled and whether the family lives, each null where there is none.
    private static let ownersSQL = makeOwnersSQL(.sqlite)
    private static let ownersForShareSQL = makeOwnersSQL(.postgres)
    private static let newestSQL =
        "SELECT \(SessionRecord.columns) FROM sessions ORDER BY created_at DESC, id LIMIT ?1"
    private static let endByFamilySQL = """
        UPDATE sessions SET state = 'ended', ended_at = ?2, version = version + 1
        WHERE family_id = ?1 AND \(StoredSessionState.isLiveSQL) RETURNING id, epoch
        """
    private static let endByUserSQL = """
        UPDATE sessions SET state = 'ended', ended_at = ?2, version = version + 1
        WHERE user_id = ?1 AND \(StoredSessionState.isLiveSQL) RETURNING id, epoch
        """
    /// Only sessions of the kept family can be kept: the others end with theirs.
    private static let endOthersSQL = """
        UPDATE sessions SET state = 'ended', ended_at = ?2, version = version + 1
        WHERE user_id = ?1 AND (family_id IS NULL OR family_id <> ?3 OR id NOT IN (?4, ?5))
        AND \(StoredSessionState.isLiveSQL) RETURNING id, epoch
        """

    private static func makeOwnersSQL(_ dialect: SQLDialect) -> String {
        """
        WITH account AS (SELECT disabled FROM accounts WHERE user_id = ?1\(dialect.forShare)),
        family AS (SELECT is_live FROM families WHERE id = ?2\(dialect.forShare))
        SELECT (SELECT disabled FROM account), (SELECT is_live FROM family)
        """
    }

    private static func makeReplaceSQL(_ state: StoredSessionState) -> String {
        """
        UPDATE sessions SET state = ?2, tenant_id = ?3, user_id = ?4, created_at = ?5,
        last_seen_at = CASE WHEN last_seen_at > ?6 THEN last_seen_at ELSE ?6 END, idle_timeout = ?7,
        absolute_expires_at = ?8, secret_hash = ?9, previous_secret_hash = ?10, previous_secret_until = ?11,
        epoch = ?12, family_id = ?13, metadata = ?14, ended_at = ?15, version = version + 1,
        expires_at = CASE WHEN last_seen_at <= ?6 THEN ?17
        WHEN last_seen_at > CAST(?8 AS BIGINT) - CAST(?7 AS BIGINT) THEN ?8 ELSE last_seen_at + ?7 END
        WHERE id = ?1 AND version = ?16 AND \(state.reachableFromSQL)
        AND (user_id IS NULL OR (user_id = ?4 AND tenant_id = ?3))
        """
    }

    func insert(session: SessionRecord) async throws {
        try await write { transaction in
            try Self.requireOwners(of: session, transaction)
            try transaction.post(Self.insertSQL, session.values)
            let change = Change.session(id: session.id, state: session.state, epoch: session.epoch)
            try transaction.record(change, reach: .here)
        }
    }

    func session(id: String) async throws -> SessionRecord? {
        try await row(Self.byIDSQL, [.text(id)]).map(SessionRecord.init(row:))
    }

    func session(secretHash: [UInt8]) async throws -> SessionRecord? {
        try await row(Self.bySecretSQL, [.blob(secretHash)]).map(SessionRecord.init(row:))
    }

    func replace(session record: SessionRecord) async throws -> Bool {
        try await write { try Self.replace(session: record, $0) }
    }

    /// The row is read without a lock: its version tells whether it is still that when it is written, and locks are
    /// taken in one order everywhere, the owner's and the family's before the session's.
    func change<Outcome: Sendable>(
        sessionID: String,
        _ decide: @escaping @Sendable (SessionRecord?) -> (next: SessionRecord?, outcome: Outcome)
    ) async throws -> Outcome? {
        let key = SQLValue.text(sessionID)
        guard !key.holdsNUL else { return decide(nil).outcome }
        return try await write { transaction -> Outcome? in
            let stored = try transaction.row(Self.byIDSQL, [key]).map(SessionRecord.init(row:))
            let (next, outcome) = decide(stored)
            guard let next else { return outcome }
            return try Self.replace(session: next, transaction) ? outcome : nil
        }
    }

    /// Beside the version this guards what no caller may break: states only move to the right, an owner stays.
    private static func replace(session record: SessionRecord, _ transaction: any SQLTransaction) throws -> Bool {
        try requireOwners(of: record, transaction)
        guard try transaction.execute(replaceSQL(to: record.state), record.values) == 1 else { return false }
        try transaction.record(.session(id: record.id, state: record.state, epoch: record.epoch))
        return true
    }

    private static func replaceSQL(to state: StoredSessionState) -> String {
        switch state {
        case .anonymous: replaceByAnonymousSQL
        case .authenticated: replaceByAuthenticatedSQL
        case .ended: replaceByEndedSQL
        case .expired: replaceByExpiredSQL
        }
    }

    func liveSessions(
        tenantID: String, userID: String, now: Milliseconds, limit: Int
    ) async throws -> [SessionRecord] {
        try await rows(
            Self.byOwnerSQL, [.text(userID), .text(tenantID), .integer(now), self.limit(limit)]
        ).map(SessionRecord.init(row:))
    }

    func sessions(limit: Int) async throws -> [SessionRecord] {
        try await rows(Self.newestSQL, [self.limit(limit)]).map(SessionRecord.init(row:))
    }

    func endSessions(familyID: String, at: Milliseconds) async throws -> [String] {
        try await write { try Self.endSessions(familyID: familyID, at: at, $0) }
    }

    // MARK: Shared with the families and accounts

    static func endSessions(
        familyID: String, at: Milliseconds, _ transaction: any SQLTransaction
    ) throws -> [String] {
        try tellEnded(transaction.rows(endByFamilySQL, [.text(familyID), .integer(at)]), transaction)
    }

    static func endSessions(
        userID: String, at: Milliseconds, _ transaction: any SQLTransaction
    ) throws -> [String] {
        try tellEnded(transaction.rows(endByUserSQL, [.text(userID), .integer(at)]), transaction)
    }

    /// Ends the user's sessions but those of a family that are named.
    static func endSessions(
        userID: String, sparing kept: (String, String), of familyID: String, at: Milliseconds,
        _ transaction: any SQLTransaction
    ) throws -> [String] {
        let values = [SQLValue.text(userID), .integer(at), .text(familyID), .text(kept.0), .text(kept.1)]
        return try tellEnded(transaction.rows(endOthersSQL, values), transaction)
    }

    private static func tellEnded(_ rows: [SQLRow], _ transaction: any SQLTransaction) throws -> [String] {
        try rows.map { row in
            var row = row
            let id = try row.text()
            try transaction.record(.session(id: id, state: .ended, epoch: try row.integer()))
            return id
        }
    }

    /// A session that is written after its family or its owner was shut out would outlive them: it is not written.
    private static func requireOwners(of session: SessionRecord, _ transaction: any SQLTransaction) throws {
        guard session.state.isLive, session.userID != nil || session.familyID != nil else { return }
        var row = try transaction.row(
            transaction.dialect == .postgres ? ownersForShareSQL : ownersSQL,
            [.optional(session.userID), .optional(session.familyID)])
        // Neither an account nor a family that is unknown here shuts anything.
        let isDisabled = try row?.optionalInteger() ?? 0
        let isLive = try row?.optionalInteger() ?? 1
        guard isDisabled == 0, isLive != 0 else { throw StateSurfaceError.ownerGone }
    }
}
