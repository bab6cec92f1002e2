import Runtime
import StateSurface
import Synchronization

/// The roles of a store that the Runtime uses, in memory, for one or more Runtimes in a test. It can be made unreachable,
/// and reading a session can be made to wait.
final class MemorySurface: RuntimeStore {
    struct State: Sendable {
        var sessions: [String: SessionRecord] = [:]
        var executions: [String: [String: ExecutionRecord]] = [:]
        var events: [String: [EventRecord]] = [:]
        var firstKept: [String: Int64] = [:]
        var artifacts: [ArtifactRecord] = []
        var beats: [String: Milliseconds] = [:]
        var tickets: [[UInt8]: TicketRecord] = [:]
        var observers: [Int: @Sendable (Change) -> Void] = [:]
        var nextObserver = 0
        var isReachable = true
        var sessionReads = 0
        var touches = 0
        var beforeReturningSession: (@Sendable () async -> Void)?
    }

    let state = Mutex(State())

    // MARK: Handles for tests

    func dropOutcome(sessionID: String, intentID: String) {
        self.state.withLock { $0.executions[sessionID]?[intentID]?.outcome = nil }
    }
    func set(reachable: Bool) { self.state.withLock { $0.isReachable = reachable } }

    func beforeReturningSession(_ body: (@Sendable () async -> Void)?) {
        self.state.withLock { $0.beforeReturningSession = body }
    }

    func tell(_ change: Change) {
        for observer in self.state.withLock({ Array($0.observers.values) }) { observer(change) }
    }

    func stored(_ id: String) -> SessionRecord? { self.state.withLock { $0.sessions[id] } }

    var sessionCount: Int { self.state.withLock { $0.sessions.count } }
    var touches: Int { self.state.withLock { $0.touches } }

    func forgetEvents(sessionID: String, before first: Int64) {
        self.state.withLock { state in
            state.events[sessionID]?.removeAll { $0.seq < first }
            state.firstKept[sessionID] = first
        }
    }

    private func access<R: Sendable>(_ body: (inout State) throws -> R) throws -> R {
        try self.state.withLock { state in
            guard state.isReachable else { throw StateSurfaceError(.unavailable, "away") }
            return try body(&state)
        }
    }

    // MARK: The feed

    func subscribe(_ observer: @escaping @Sendable (Change) -> Void) -> Subscription {
        let id = self.state.withLock { state in
            state.nextObserver += 1
            state.observers[state.nextObserver] = observer
            return state.nextObserver
        }
        return Subscription { [weak self] in self?.state.withLock { $0.observers[id] = nil } }
    }

    func sinceLastBeat() -> Duration { .zero }
    func feedIsLost() -> Bool { false }

    // MARK: Sessions

    func insert(session: SessionRecord) async throws {
        try self.access { state in
            guard state.sessions[session.id] == nil else { throw StateSurfaceError(.duplicate, "session") }
            state.sessions[session.id] = session
        }
        self.tell(session)
    }

    func session(id: String) async throws -> SessionRecord? {
        let (record, pause) = try self.access { state in
            state.sessionReads += 1
            return (state.sessions[id], state.beforeReturningSession)
        }
        await pause?()
        return record
    }

    func session(secretHash: [UInt8]) async throws -> SessionRecord? {
        try self.access { state in
            state.sessionReads += 1
            return state.sessions.values.first {
                $0.secretHash == secretHash || $0.previousSecretHash == secretHash
            }
        }
    }

    func replace(session record: SessionRecord) async throws -> Bool {
        let next = try self.access { Self.replace(record, in: &$0) }
        if let next { self.tell(next) }
        return next != nil
    }

    func change<Outcome: Sendable>(
        sessionID: String,
        _ decide: @escaping @Sendable (SessionRecord?) -> (next: SessionRecord?, outcome: Outcome)
    ) async throws -> Outcome? {
        let pause = try self.access { $0.beforeReturningSession }
        await pause?()
        let (written, outcome) = try self.access { state -> (SessionRecord?, Outcome?) in
            let (next, outcome) = decide(state.sessions[sessionID])
            guard let next else { return (nil, outcome) }
            let written = Self.replace(next, in: &state)
            return (written, written == nil ? nil : outcome)
        }
        if let written { self.tell(written) }
        return outcome
    }

    /// - Returns: the record as it is now stored; nil when its version has moved on, or it would move backwards.
    private static func replace(_ record: SessionRecord, in state: inout State) -> SessionRecord? {
        guard let stored = state.sessions[record.id], stored.version == record.version,
            record.state == stored.state || stored.state == .anonymous
                || (stored.state == .authenticated && !record.state.isLive),
            stored.userID == nil || (stored.userID == record.userID && stored.tenantID == record.tenantID)
        else { return nil }
        var next = record
        next.version += 1
        next.lastSeenAt = max(stored.lastSeenAt, record.lastSeenAt)
        state.sessions[record.id] = next
        return next
    }

    private func tell(_ record: SessionRecord) {
        self.tell(.session(id: record.id, state: record.state, epoch: record.epoch))
    }

    func liveSessions(
        tenantID: String, userID: String, now: Milliseconds, limit: Int
    ) async throws -> [SessionRecord] {
        try self.access { state in
            let live = state.sessions.values.filter {
                $0.tenantID == tenantID && $0.userID == userID && $0.state.isLive && now < $0.expiresAt
            }
            return Array(live.sorted { $0.createdAt > $1.createdAt }.prefix(limit))
        }
    }

    func sessions(userID: String?, liveAt now: Milliseconds?, limit: Int) async throws -> [SessionRecord] {
        try self.access { state in
            let wanted = state.sessions.values.filter { session in
                (userID == nil || session.userID == userID)
                    && (now.map { session.state.isLive && $0 < session.expiresAt } ?? true)
            }
            return Array(wanted.sorted { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }.prefix(limit))
        }
    }

    func surplusSessions(userID: String, sparing: String, limit: Int) async throws -> [SurplusSession] {
        try self.access { state in
            let live = state.sessions.values.filter { $0.userID == userID && $0.state.isLive }
            guard live.count > limit else { return [] }
            // Homes are known to families alone: here every session is a guest.
            let others = live.filter { $0.id != sparing }.sorted { ($0.lastSeenAt, $0.id) < ($1.lastSeenAt, $1.id) }
            return others.prefix(live.count - limit).map { SurplusSession(id: $0.id, homeOf: nil) }
        }
    }

    private func end(at: Milliseconds, where matches: (SessionRecord) -> Bool) throws -> [String] {
        let ended = try self.access { state -> [SessionRecord] in
            let matching = state.sessions.values.filter { $0.state.isLive && matches($0) }
            return matching.map { record in
                var next = record
                next.state = .ended
                next.endedAt = at
                next.version += 1
                state.sessions[record.id] = next
                return next
            }
        }
        for record in ended { self.tell(record) }
        return ended.map(\.id)
    }

    /// Ends the sessions of a family, as the store does when a family ends.
    func endSessions(familyID: String, at: Milliseconds) throws -> [String] {
        try self.end(at: at) { $0.familyID == familyID }
    }

    func touch(sessions: [(id: String, lastSeenAt: Milliseconds)]) async throws {
        try self.access { state in
            state.touches += 1
            for (id, lastSeenAt) in sessions {
                guard let record = state.sessions[id], record.state.isLive else { continue }
                state.sessions[id]?.lastSeenAt = max(record.lastSeenAt, lastSeenAt)
            }
        }
    }

    func expireSessions(now: Milliseconds, limit: Int) async throws -> [String] {
        let expired = try self.access { state -> [SessionRecord] in
            let past = state.sessions.values.filter { $0.state.isLive && now >= $0.expiresAt }.prefix(limit)
            return past.map { record in
                var next = record
                next.state = .expired
                next.endedAt = record.expiresAt
                next.version += 1
                state.sessions[record.id] = next
                return next
            }
        }
        for record in expired { self.tell(record) }
        return expired.map(\.id)
    }

    // MARK: The execution log and the event stream

    func begin(execution: ExecutionRecord) async throws -> ExecutionRecord? {
        try self.access { state in
            if let earlier = state.executions[execution.sessionID]?[execution.intentID] { return earlier }
            state.executions[execution.sessionID, default: [:]][execution.intentID] = execution
            return nil
        }
    }

    func finish(
        sessionID: String, intentID: String, at: Milliseconds, payload: @escaping @Sendable (Int64) -> String
    ) async throws -> EventRecord {
        let (event, isNew) = try self.access { state -> (EventRecord, Bool) in
            guard var execution = state.executions[sessionID]?[intentID] else {
                throw StateSurfaceError(.failed, "no such execution")
            }
            if let seq = execution.seq, let outcome = execution.outcome {
                return (EventRecord(sessionID: sessionID, seq: seq, payload: outcome), false)
            }
            let seq = (state.events[sessionID]?.last?.seq ?? (state.firstKept[sessionID] ?? 1) - 1) + 1
            let event = EventRecord(sessionID: sessionID, seq: seq, payload: payload(seq))
            execution.seq = seq
            execution.outcome = event.payload
            state.executions[sessionID]?[intentID] = execution
            state.events[sessionID, default: []].append(event)
            return (event, true)
        }
        if isNew { self.tell(.events(sessionID: sessionID, lastSeq: event.seq)) }
        return event
    }

    func execution(sessionID: String, intentID: String) async throws -> ExecutionRecord? {
        try self.access { $0.executions[sessionID]?[intentID] }
    }

    /// As the end of a session's tombstone does.
    func removeExecutions(of sessionID: String) { state.withLock { $0.executions[sessionID] = nil } }

    func interruptedExecutions(livingNodes: Set<String>, limit: Int) async throws -> [ExecutionRecord] {
        try self.access { state in
            let open = state.executions.values.flatMap(\.values).filter {
                $0.outcome == nil && !livingNodes.contains($0.nodeID)
            }
            return Array(open.prefix(limit))
        }
    }

    func events(sessionID: String, after seq: Int64, limit: Int) async throws -> [EventRecord] {
        try self.access { Array(($0.events[sessionID] ?? []).filter { $0.seq > seq }.prefix(limit)) }
    }

    func eventBounds(sessionID: String) async throws -> (first: Int64, last: Int64) {
        try self.access { state in
            let events = state.events[sessionID] ?? []
            return (events.first?.seq ?? 1, events.last?.seq ?? 0)
        }
    }

    func beat(nodeID: String, at: Milliseconds, within: Milliseconds) async throws -> Set<String> {
        try self.access { state in
            state.beats[nodeID] = at
            return Set(state.beats.filter { at - $0.value <= within }.keys)
        }
    }

    // MARK: Tickets

    func put(ticket: TicketRecord, limit: Int, now: Milliseconds) async throws -> Bool {
        try self.access { state in
            let unused = state.tickets.values.filter { $0.sessionID == ticket.sessionID && $0.expiresAt > now }
            guard unused.count < limit else { return false }
            state.tickets[ticket.hash] = ticket
            return true
        }
    }

    func ticket(hash: [UInt8]) async throws -> TicketRecord? {
        try self.access { $0.tickets[hash] }
    }

    func take(ticketHash: [UInt8]) async throws -> TicketRecord? {
        try self.access { $0.tickets.removeValue(forKey: ticketHash) }
    }

    // MARK: Artifacts

    func put(artifact: ArtifactRecord, expectedVersion: Int64?) async throws -> ArtifactRecord? {
        try self.access { state in
            let newest = state.artifacts.last {
                $0.tenantID == artifact.tenantID && $0.userID == artifact.userID && $0.name == artifact.name
            }
            let version = newest?.version ?? 0
            guard expectedVersion == nil || expectedVersion == version else { return nil }
            var stored = artifact
            stored.version = version + 1
            stored.state = .draft
            state.artifacts.append(stored)
            return stored
        }
    }

    func artifact(tenantID: String, userID: String, name: String) async throws -> ArtifactRecord? {
        try self.access { state in
            state.artifacts.last { $0.tenantID == tenantID && $0.userID == userID && $0.name == name }
        }
    }

    func artifacts(tenantID: String, userID: String, limit: Int) async throws -> [ArtifactRecord] {
        try self.access { state in
            let own = state.artifacts.filter { $0.tenantID == tenantID && $0.userID == userID }
            let newest = Dictionary(own.map { ($0.name, $0) }) { $1 }
            return Array(newest.values.sorted { $0.name < $1.name }.prefix(limit))
        }
    }

    func transition(
        tenantID: String, userID: String, name: String, version: Int64, from: ArtifactRecord.State,
        to: ArtifactRecord.State, at: Milliseconds
    ) async throws -> ArtifactRecord? {
        try self.access { state in
            let newest = state.artifacts.lastIndex {
                $0.tenantID == tenantID && $0.userID == userID && $0.name == name
            }
            guard let newest, state.artifacts[newest].version == version, state.artifacts[newest].state == from else {
                return nil
            }
            state.artifacts[newest].state = to
            return state.artifacts[newest]
        }
    }
}
