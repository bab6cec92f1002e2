/// The statements on sessions. They are static, because building and hashing a text for every write takes time.
private enum SessionSQL {
    static let insert =
        "INSERT INTO sessions (\(SessionRecord.columns), expires_at) VALUES (\(sqlParameters(17)))"
    static let byID = "SELECT \(SessionRecord.columns) FROM sessions WHERE id = ?1"
    static let bySecret = """
        SELECT \(SessionRecord.columns) FROM sessions WHERE secret_hash = ?1 OR previous_secret_hash = ?1 LIMIT 1
        """
    private static let replaceByAnonymous = makeReplace(.anonymous)
    private static let replaceByAuthenticated = makeReplace(.authenticated)
    private static let replaceByEnded = makeReplace(.ended)
    private static let replaceByExpired = makeReplace(.expired)
    private static let replaceOwnedByAnonymous = makeReplaceOwned(.anonymous)
    private static let replaceOwnedByAuthenticated = makeReplaceOwned(.authenticated)
    static let byOwner = """
        SELECT \(SessionRecord.columns) FROM sessions WHERE user_id = ?1 AND tenant_id = ?2
        AND \(StoredSessionState.isLiveSQL) AND expires_at > ?3 ORDER BY created_at DESC, id LIMIT ?4
        """
    /// Whether the account is disabled and whether the family is live; each is null if there is none.
    private static let owners = makeOwners(.sqlite)
    private static let ownersForShare = makeOwners(.postgres)
    private static func newest(where conditions: String) -> String {
        "SELECT \(SessionRecord.columns) FROM sessions \(conditions) ORDER BY created_at DESC, id LIMIT ?1"
    }
    static let newest = newest(where: "")
    static let newestOfUser = newest(where: "WHERE user_id = ?2")
    static let newestLive = newest(where: "WHERE \(StoredSessionState.isLiveSQL) AND expires_at > ?2")
    static let newestLiveOfUser = newest(
        where: "WHERE \(StoredSessionState.isLiveSQL) AND expires_at > ?2 AND user_id = ?3")
    static let endByFamily = """
        UPDATE sessions SET state = 'ended', ended_at = ?2, version = version + 1
        WHERE family_id = ?1 AND \(StoredSessionState.isLiveSQL) RETURNING id, epoch, tenant_id, user_id
        """
    static let endByUser = """
        UPDATE sessions SET state = 'ended', ended_at = ?2, version = version + 1
        WHERE user_id = ?1 AND \(StoredSessionState.isLiveSQL) RETURNING id, epoch, tenant_id, user_id
        """
    /// Only sessions of the kept family are kept; the others end with their families.
    static let endOthers = """
        UPDATE sessions SET state = 'ended', ended_at = ?2, version = version + 1
        WHERE user_id = ?1 AND (family_id IS NULL OR family_id <> ?3 OR id NOT IN (?4, ?5))
        AND \(StoredSessionState.isLiveSQL) RETURNING id, epoch, tenant_id, user_id
        """

    private static func makeOwners(_ dialect: SQLDialect) -> String {
        """
        WITH account AS (SELECT disabled FROM accounts WHERE user_id = ?1\(dialect.forShare)),
        family AS (SELECT is_live FROM families WHERE id = ?2\(dialect.forShare))
        SELECT (SELECT disabled FROM account), (SELECT is_live FROM family)
        """
    }

    private static func makeReplace(_ state: StoredSessionState) -> String {
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

    /// For databases whose WITH clauses may write: as ``owners(_:)``, and whether the session was replaced, which it
    /// only is if the two allow it. One statement, because every answer that is waited for takes time from the writes
    /// behind.
    ///
    /// The account and the family are locked first, as everywhere: until they are, the condition of the update is open.
    private static func makeReplaceOwned(_ state: StoredSessionState) -> String {
        """
        WITH account AS (SELECT disabled FROM accounts WHERE user_id = ?4\(SQLDialect.postgres.forShare)),
        family AS (SELECT is_live FROM families WHERE id = ?13\(SQLDialect.postgres.forShare)),
        replaced AS (\(makeReplace(state)) AND COALESCE((SELECT disabled FROM account), 0) = 0
        AND COALESCE((SELECT is_live FROM family), 1) <> 0 RETURNING 1)
        SELECT (SELECT disabled FROM account), (SELECT is_live FROM family), (SELECT COUNT(*) FROM replaced)
        """
    }

    /// nil for the states of sessions that are over, which may outlive their owners.
    static func replaceOwned(by state: StoredSessionState) -> String? {
        switch state {
        case .anonymous: replaceOwnedByAnonymous
        case .authenticated: replaceOwnedByAuthenticated
        case .ended, .expired: nil
        }
    }

    static func replace(by state: StoredSessionState) -> String {
        switch state {
        case .anonymous: replaceByAnonymous
        case .authenticated: replaceByAuthenticated
        case .ended: replaceByEnded
        case .expired: replaceByExpired
        }
    }

    static func owners(_ dialect: SQLDialect) -> String {
        dialect.capabilities.hasRowLocks ? ownersForShare : owners
    }
}

// MARK: Inside a transaction
extension SQLTransaction {
    /// Locks the account and the family, so that an end of either waits and then ends this session as well.
    func insert(session: SessionRecord) throws {
        try requireOwners(of: session)
        try post(SessionSQL.insert, session.values)
        try record(.session(id: session.id, state: session.state, epoch: session.epoch), reach: .here)
        if events != nil, session.state == .authenticated { try recordEvent(StoreEvent(.sessionUpgraded, of: session)) }
    }

    /// Reads without a lock, and notes the state, by which ``TransactionEvents`` tells an upgrade from a later write.
    func session(id: String) throws -> SessionRecord? {
        let session = try row(SessionSQL.byID, [.text(id)]).map(SessionRecord.init(row:))
        if let session { events?.noteRead(session) }
        return session
    }

    /// Besides the version, the statement checks that the state is not changed back and the owner is not changed.
    ///
    /// A session of a user that is no longer live also ends the grants that were made in it.
    func replace(session: SessionRecord) throws -> Bool {
        guard try hasReplaced(session) else { return false }
        if !session.state.isLive, session.userID != nil {
            try endGrants(in: session.id, at: session.endedAt ?? session.lastSeenAt)
        }
        try record(.session(id: session.id, state: session.state, epoch: session.epoch))
        if let event = events?.event(ofReplaced: session) { try recordEvent(event) }
        return true
    }

    /// Ends the family's live sessions, and returns their ids.
    func endSessions(familyID: String, at: Milliseconds) throws -> [String] {
        try recordEnded(
            rows(SessionSQL.endByFamily, [.text(familyID), .integer(at)]), at: at, StoreEvent.EndReason.familyEnded)
    }

    /// - Parameter reason: why, for the receivers of events.
    ///
    /// - Returns: the ids of the sessions that were ended.
    func endSessions(userID: String, at: Milliseconds, because reason: String) throws -> [String] {
        try recordEnded(rows(SessionSQL.endByUser, [.text(userID), .integer(at)]), at: at, reason)
    }

    /// Ends the user's sessions except the named ones of a family.
    ///
    /// - Parameters:
    ///   - kept: the ids of at most two sessions that are kept if they belong to the family; empty for none.
    ///   - familyID: the family of the caller, which is kept.
    /// - Returns: the ids of the sessions that were ended.
    func endSessions(
        userID: String, sparing kept: (String, String), of familyID: String, at: Milliseconds
    ) throws -> [String] {
        let values = [SQLValue.text(userID), .integer(at), .text(familyID), .text(kept.0), .text(kept.1)]
        return try recordEnded(rows(SessionSQL.endOthers, values), at: at, StoreEvent.EndReason.passwordChanged)
    }

    private func recordEnded(_ rows: [SQLRow], at: Milliseconds, _ reason: String) throws -> [String] {
        try rows.map { row in
            var row = row
            let id = try row.text()
            try record(.session(id: id, state: .ended, epoch: try row.integer()))
            try endGrants(in: id, at: at)
            try recordEvent(
                StoreEvent(
                    .sessionEnded, sessionID: id, tenantID: try row.optionalText(), userID: try row.optionalText(),
                    reason: events?.reason ?? reason))
            return id
        }
    }

    /// Replaces a session if its owners allow it.
    private func hasReplaced(_ session: SessionRecord) throws -> Bool {
        guard dialect.writesInWith, session.mayLackOwners, let sql = SessionSQL.replaceOwned(by: session.state) else {
            try requireOwners(of: session)
            return try execute(SessionSQL.replace(by: session.state), session.values) == 1
        }
        var row = try row(sql, session.values)
        try Self.require(owners: &row)
        return try row?.integer() == 1
    }

    /// Throws `.ownerGone` if the session's family has ended or its owner is disabled, because the session would
    /// outlive them.
    private func requireOwners(of session: SessionRecord) throws {
        guard session.mayLackOwners else { return }
        var row = try row(SessionSQL.owners(dialect), [.optional(session.userID), .optional(session.familyID)])
        try Self.require(owners: &row)
    }

    /// - Parameter row: whether the account is disabled and whether the family is live.
    private static func require(owners row: inout SQLRow?) throws {
        // An account or family that does not exist here is no reason to refuse.
        let isDisabled = try row?.optionalInteger() ?? 0
        let isLive = try row?.optionalInteger() ?? 1
        guard isDisabled == 0, isLive != 0 else { throw StateSurfaceError.ownerGone }
    }
}

extension SessionRecord {
    /// Whether its owner may be disabled, or its family have ended, while it is to be live.
    fileprivate var mayLackOwners: Bool { state.isLive && (userID != nil || familyID != nil) }
}

// MARK: The role
extension SQLSurface {
    func insert(session: SessionRecord) async throws { try await write { try $0.insert(session: session) } }

    func session(id: String) async throws -> SessionRecord? {
        try await row(SessionSQL.byID, [.text(id)]).map(SessionRecord.init(row:))
    }

    func session(secretHash: [UInt8]) async throws -> SessionRecord? {
        try await row(SessionSQL.bySecret, [.blob(secretHash)]).map(SessionRecord.init(row:))
    }

    func replace(session record: SessionRecord) async throws -> Bool {
        try await write { try $0.replace(session: record) }
    }

    /// The row is read without a lock, maybe before other writes of the same transaction: the version detects a
    /// concurrent change, and locks are taken in one order everywhere, that of the owner and of the family before that
    /// of the session.
    func change<Outcome: Sendable>(
        sessionID: String,
        _ decide: @escaping @Sendable (SessionRecord?) -> (next: SessionRecord?, outcome: Outcome)
    ) async throws -> Outcome? {
        guard !SQLValue.text(sessionID).holdsNUL else { return decide(nil).outcome }
        let first = SQLStatement(sql: SessionSQL.byID, values: [.text(sessionID)])
        return try await write(reading: first) { transaction -> Outcome? in
            let (next, outcome) = decide(try transaction.session(id: sessionID))
            guard let next else { return outcome }
            return try transaction.replace(session: next) ? outcome : nil
        }
    }

    func liveSessions(
        tenantID: String, userID: String, now: Milliseconds, limit: Int
    ) async throws -> [SessionRecord] {
        try await rows(
            SessionSQL.byOwner, [.text(userID), .text(tenantID), .integer(now), .limit(limit)]
        ).map(SessionRecord.init(row:))
    }

    func sessions(userID: String?, liveAt now: Milliseconds?, limit: Int) async throws -> [SessionRecord] {
        let found =
            switch (now, userID) {
            case (nil, nil): try await rows(SessionSQL.newest, [.limit(limit)])
            case (nil, let userID?): try await rows(SessionSQL.newestOfUser, [.limit(limit), .text(userID)])
            case (let now?, nil): try await rows(SessionSQL.newestLive, [.limit(limit), .integer(now)])
            case (let now?, let userID?):
                try await rows(SessionSQL.newestLiveOfUser, [.limit(limit), .integer(now), .text(userID)])
            }
        return try found.map(SessionRecord.init(row:))
    }
}
