import StateSurface

// MARK: In the tables
extension MemoryTables {
    /// The number of surplus sessions that are returned at once.
    private static let surplusBatch = 64

    mutating func insert(session: SessionRecord) throws {
        try refuseNUL(in: session.id, session.tenantID, session.userID, session.familyID, session.metadata)
        try requireOwners(of: session)
        guard sessions[session.id] == nil else { throw StateSurfaceError(.duplicate, "there is a session of this id") }
        sessions[session.id] = session
        changes.append(.session(id: session.id, state: session.state, epoch: session.epoch))
    }

    /// - Returns: whether it was replaced, which needs the version that is stored, and a state and owner that may follow
    ///   those that are stored.
    mutating func replace(session record: SessionRecord) throws -> Bool {
        try refuseNUL(in: record.tenantID, record.userID, record.familyID, record.metadata)
        try requireOwners(of: record)
        guard let stored = sessions[record.id], stored.version == record.version, record.mayFollow(stored) else {
            return false
        }
        var next = record
        next.version += 1
        next.lastSeenAt = max(stored.lastSeenAt, record.lastSeenAt)
        sessions[record.id] = next
        changes.append(.session(id: next.id, state: next.state, epoch: next.epoch))
        return true
    }

    /// Throws if the session would outlive its family or its user. Those that are not known here are no reason.
    private func requireOwners(of session: SessionRecord) throws {
        guard session.state.isLive else { return }
        if let userID = session.userID, accounts[userID]?.disabled == true { throw StateSurfaceError.ownerGone }
        if let familyID = session.familyID, families[familyID]?.isLive == false { throw StateSurfaceError.ownerGone }
    }

    /// Ends the live sessions that are meant, and returns their ids.
    @discardableResult
    mutating func endSessions(at: Milliseconds, where isMeant: (SessionRecord) -> Bool) -> [String] {
        let meant = sessions.values.filter { $0.state.isLive && isMeant($0) }.map(\.id).sorted()
        for id in meant { close(sessionID: id, as: .ended, at: at) }
        return meant
    }

    private mutating func close(sessionID: String, as state: StoredSessionState, at: Milliseconds) {
        guard var session = sessions[sessionID] else { return }
        session.state = state
        session.endedAt = at
        session.version += 1
        sessions[sessionID] = session
        changes.append(.session(id: sessionID, state: state, epoch: session.epoch))
    }

    func liveSessions(tenantID: String, userID: String, now: Milliseconds, limit: Int) -> [SessionRecord] {
        let live = sessions.values.filter {
            $0.tenantID == tenantID && $0.userID == userID && $0.state.isLive && now < $0.expiresAt
        }
        return Self.newest(live, limit: limit)
    }

    func sessions(userID: String?, liveAt now: Milliseconds?, limit: Int) -> [SessionRecord] {
        let wanted = sessions.values.filter { session in
            (userID == nil || session.userID == userID)
                && (now.map { session.state.isLive && $0 < session.expiresAt } ?? true)
        }
        return Self.newest(wanted, limit: limit)
    }

    private static func newest(_ sessions: [SessionRecord], limit: Int) -> [SessionRecord] {
        Array(sessions.sorted { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }.prefix(limit))
    }

    func surplusSessions(userID: String, sparing: String, limit: Int) -> [SurplusSession] {
        let live = sessions.values.filter { $0.userID == userID && $0.state.isLive }
        let surplus = min(live.count - limit, Self.surplusBatch)
        guard surplus > 0 else { return [] }
        let others = live.filter { $0.id != sparing }.map { (session: $0, homeOf: family(atHomeIn: $0)) }
        let sorted = others.sorted { first, second in
            (first.homeOf == nil ? 0 : 1, first.session.lastSeenAt, first.session.id)
                < (second.homeOf == nil ? 0 : 1, second.session.lastSeenAt, second.session.id)
        }
        return sorted.prefix(surplus).map { SurplusSession(id: $0.session.id, homeOf: $0.homeOf) }
    }

    /// The live family of the session whose home it is; nil for a guest.
    private func family(atHomeIn session: SessionRecord) -> String? {
        guard let familyID = session.familyID, let family = families[familyID], family.isLive,
            family.binding == session.id
        else { return nil }
        return familyID
    }

    mutating func touch(_ uses: [(id: String, lastSeenAt: Milliseconds)]) {
        touches += 1
        for (id, lastSeenAt) in uses {
            guard let session = sessions[id], session.state.isLive, session.lastSeenAt < lastSeenAt,
                lastSeenAt < session.absoluteExpiresAt
            else { continue }
            sessions[id]?.lastSeenAt = lastSeenAt
        }
    }

    mutating func expire(session record: SessionRecord) throws -> ExpiredSessions? {
        let home = family(atHomeIn: record)
        // It may have been used since it was read.
        guard let stored = sessions[record.id], stored.expiresAt <= record.endedAt ?? record.expiresAt,
            try replace(session: record)
        else { return nil }
        guard let home else { return ExpiredSessions(ids: [record.id]) }
        let family = endHome(of: home, at: record.endedAt ?? record.lastSeenAt)
        return ExpiredSessions(ids: [record.id], families: [family])
    }

    /// Ends a family whose home has expired. How long its tokens are revoked is at least as long as they last.
    private mutating func endHome(of familyID: String, at: Milliseconds) -> ExpiredSessions.Family {
        let ended = endFamily(id: familyID, at: at, revokedUntil: at + 3_600_000)
        return ExpiredSessions.Family(id: familyID, sessionIDs: ended)
    }

    mutating func expireSessions(now: Milliseconds, limit: Int) -> ExpiredSessions {
        let due = sessions.values.filter { $0.state.isLive && $0.expiresAt <= now }
            .sorted { ($0.expiresAt, $0.id) < ($1.expiresAt, $1.id) }.prefix(limit)
        let homes = due.compactMap { family(atHomeIn: $0) }
        for session in due { close(sessionID: session.id, as: .expired, at: session.expiresAt) }
        var families: [ExpiredSessions.Family] = []
        for id in homes { families.append(endHome(of: id, at: now)) }
        forget(now: now)
        return ExpiredSessions(ids: due.map(\.id), families: families)
    }
}

extension SessionRecord {
    /// Whether this may replace what is stored: a state is never changed back, and an owner never changes.
    fileprivate func mayFollow(_ stored: SessionRecord) -> Bool {
        let mayFollowState =
            switch state {
            case .anonymous: stored.state == .anonymous
            case .authenticated: stored.state.isLive
            case .ended: stored.state != .expired
            case .expired: stored.state != .ended
            }
        return mayFollowState
            && (stored.userID == nil || (stored.userID == userID && stored.tenantID == tenantID))
    }
}

// MARK: What is no longer needed
extension MemoryTables {
    /// How long a family is kept after its end, because its last tokens are accepted a little longer than they say.
    private static let familyMargin: Milliseconds = 120_000
    /// How far the clock of another node may be behind.
    private static let clockMargin: Milliseconds = 60_000

    /// Removes records that are no longer needed.
    private mutating func forget(now: Milliseconds) {
        for session in sessions.values where !session.state.isLive && session.absoluteExpiresAt <= now {
            sessions[session.id] = nil
            executions[session.id] = nil
            events[session.id] = nil
            lastNumbers[session.id] = nil
        }
        // A family of a live session is kept: disabling its client has to find the session by it.
        let inUse = Set(sessions.values.filter { $0.state.isLive }.compactMap(\.familyID))
        for family in families.values
        where family.absoluteExpiresAt <= now - Self.familyMargin && !inUse.contains(family.id) {
            families[family.id] = nil
        }
        let known = Set(families.keys)
        refreshTokens = refreshTokens.filter { known.contains($0.value.familyID) }
        revocations = revocations.filter { $0.value.expiresAt > now - Revocation.margin }
        reaches = reaches.filter { $0.value > now }
        tickets = tickets.filter { $0.value.expiresAt > now - Self.clockMargin }
        clients = clients.filter { ($0.value.expiresAt ?? .max) > now - Self.clockMargin }
    }
}

// MARK: The role
extension MemoryStore: SessionStore {
    package func insert(session: SessionRecord) async throws { try write { try $0.insert(session: session) } }

    package func session(id: String) async throws -> SessionRecord? {
        let session = try read { $0.sessions[id] }
        await reached(.sessionRead)
        return session
    }

    package func session(secretHash: [UInt8]) async throws -> SessionRecord? {
        try read { tables in
            tables.sessions.values.first { $0.secretHash == secretHash || $0.previousSecretHash == secretHash }
        }
    }

    package func replace(session record: SessionRecord) async throws -> Bool {
        try write { try $0.replace(session: record) }
    }

    package func change<Outcome: Sendable>(
        sessionID: String,
        _ decide: @escaping @Sendable (SessionRecord?) -> (next: SessionRecord?, outcome: Outcome)
    ) async throws -> Outcome? {
        try read { _ in }
        await reached(.sessionRead)
        return try write { tables -> Outcome? in
            let (next, outcome) = decide(tables.sessions[sessionID])
            guard let next else { return outcome }
            return try tables.replace(session: next) ? outcome : nil
        }
    }

    package func liveSessions(
        tenantID: String, userID: String, now: Milliseconds, limit: Int
    ) async throws -> [SessionRecord] {
        try read { $0.liveSessions(tenantID: tenantID, userID: userID, now: now, limit: limit) }
    }

    package func sessions(userID: String?, liveAt now: Milliseconds?, limit: Int) async throws -> [SessionRecord] {
        try read { $0.sessions(userID: userID, liveAt: now, limit: limit) }
    }

    package func touch(sessions: [(id: String, lastSeenAt: Milliseconds)]) async throws {
        await reached(.beforeTouch)
        try write { $0.touch(sessions) }
    }

    package func expire(session record: SessionRecord) async throws -> ExpiredSessions? {
        try write { try $0.expire(session: record) }
    }

    package func expireSessions(now: Milliseconds, limit: Int) async throws -> ExpiredSessions {
        try write { $0.expireSessions(now: now, limit: limit) }
    }
}
