import StateSurface
import Synchronization

/// A store whose every call waits until the test lets it through, for callers that are being scheduled.
struct SteppedSurface: StateSurface {
    let inner: any StateSurface
    let gate: StepGate
    /// Thrown where a session or a family is asked for.
    var fault: @Sendable () throws -> Void = {}

    func subscribe(_ observer: @escaping @Sendable (Change) -> Void) -> Subscription {
        inner.subscribe(observer)
    }
    func sinceLastBeat() -> Duration {
        inner.sinceLastBeat()
    }
    func feedIsLost() -> Bool {
        inner.feedIsLost()
    }
    func close() async { await inner.close() }
    func ping() async throws {
        try await inner.ping()
    }
    func insert(session: SessionRecord) async throws {
        await gate.pass()
        return try await inner.insert(session: session)
    }
    func session(id: String) async throws -> SessionRecord? {
        await gate.pass()
        try fault()
        return try await inner.session(id: id)
    }
    func session(secretHash: [UInt8]) async throws -> SessionRecord? {
        await gate.pass()
        return try await inner.session(secretHash: secretHash)
    }
    func replace(session record: SessionRecord) async throws -> Bool {
        await gate.pass()
        return try await inner.replace(session: record)
    }
    /// One step, as the store takes it: nothing can come between reading and writing.
    func change<Outcome: Sendable>(
        sessionID: String,
        _ decide: @escaping @Sendable (SessionRecord?) -> (next: SessionRecord?, outcome: Outcome)
    ) async throws -> Outcome? {
        await gate.pass()
        return try await inner.change(sessionID: sessionID, decide)
    }
    func liveSessions(
        tenantID: String, userID: String, now: Milliseconds, limit: Int
    ) async throws -> [SessionRecord] {
        await gate.pass()
        return try await inner.liveSessions(tenantID: tenantID, userID: userID, now: now, limit: limit)
    }
    func sessions(limit: Int) async throws -> [SessionRecord] {
        await gate.pass()
        return try await inner.sessions(limit: limit)
    }
    func endSessions(familyID: String, at: Milliseconds) async throws -> [String] {
        await gate.pass()
        return try await inner.endSessions(familyID: familyID, at: at)
    }
    func surplusSessions(userID: String, sparing: String, limit: Int) async throws -> [SurplusSession] {
        await gate.pass()
        return try await inner.surplusSessions(userID: userID, sparing: sparing, limit: limit)
    }
    func changePassword(_ change: PasswordChange) async throws -> [String] {
        await gate.pass()
        return try await inner.changePassword(change)
    }
    func sharedSecret(name: String, candidate: [UInt8]) async throws -> [UInt8] {
        try await inner.sharedSecret(name: name, candidate: candidate)
    }
    func touch(sessions: [(id: String, lastSeenAt: Milliseconds)]) async throws {
        await gate.pass()
        return try await inner.touch(sessions: sessions)
    }
    func expireSessions(now: Milliseconds, limit: Int) async throws -> [String] {
        await gate.pass()
        return try await inner.expireSessions(now: now, limit: limit)
    }
    func insert(account: AccountRecord) async throws {
        await gate.pass()
        return try await inner.insert(account: account)
    }
    func account(userID: String) async throws -> AccountRecord? {
        await gate.pass()
        return try await inner.account(userID: userID)
    }
    func accounts(emailKey: String) async throws -> [AccountRecord] {
        await gate.pass()
        return try await inner.accounts(emailKey: emailKey)
    }
    func accounts(limit: Int) async throws -> [AccountRecord] {
        await gate.pass()
        return try await inner.accounts(limit: limit)
    }
    func replace(account record: AccountRecord) async throws -> Bool {
        await gate.pass()
        return try await inner.replace(account: record)
    }
    func disable(userID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool {
        await gate.pass()
        return try await inner.disable(userID: userID, at: at, revokedUntil: revokedUntil)
    }
    func identity(
        issuer: String, subject: String, tenantID: String, create: @escaping @Sendable () -> AccountRecord
    ) async throws -> AccountRecord {
        await gate.pass()
        return try await inner.identity(issuer: issuer, subject: subject, tenantID: tenantID, create: create)
    }
    func insert(client: ClientRecord) async throws {
        await gate.pass()
        return try await inner.insert(client: client)
    }
    func client(id: String) async throws -> ClientRecord? {
        await gate.pass()
        return try await inner.client(id: id)
    }
    func clients(limit: Int) async throws -> [ClientRecord] {
        await gate.pass()
        return try await inner.clients(limit: limit)
    }
    func insert(family: FamilyRecord, judged: JudgedOwner) async throws {
        await gate.pass()
        return try await inner.insert(family: family, judged: judged)
    }
    func family(id: String) async throws -> FamilyRecord? {
        await gate.pass()
        try fault()
        return try await inner.family(id: id)
    }
    func family(tokenHash: [UInt8]) async throws -> (family: FamilyRecord, position: Int64)? {
        await gate.pass()
        return try await inner.family(tokenHash: tokenHash)
    }
    func rotate(family record: FamilyRecord) async throws -> Bool {
        await gate.pass()
        return try await inner.rotate(family: record)
    }
    func extend(familyID: String, tokenExpiresAt: Milliseconds, key: String?) async throws -> Bool {
        await gate.pass()
        return try await inner.extend(familyID: familyID, tokenExpiresAt: tokenExpiresAt, key: key)
    }
    func bind(familyID: String, to binding: String) async throws {
        await gate.pass()
        return try await inner.bind(familyID: familyID, to: binding)
    }
    func endFamily(id: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> [String] {
        await gate.pass()
        return try await inner.endFamily(id: id, at: at, revokedUntil: revokedUntil)
    }
    func liveFamilies(userID: String) async throws -> [FamilyRecord] {
        await gate.pass()
        return try await inner.liveFamilies(userID: userID)
    }
    func note(reach: TokenReach, goodUntil: Milliseconds) async throws {
        await gate.pass()
        try await inner.note(reach: reach, goodUntil: goodUntil)
    }
    func tokenReach(now: Milliseconds) async throws -> TokenReach? {
        await gate.pass()
        return try await inner.tokenReach(now: now)
    }
    func revoke(_ revocation: Revocation) async throws {
        await gate.pass()
        return try await inner.revoke(revocation)
    }
    func revocations(now: Milliseconds) async throws -> [Revocation] {
        await gate.pass()
        return try await inner.revocations(now: now)
    }
    func begin(execution: ExecutionRecord) async throws -> ExecutionRecord? {
        await gate.pass()
        return try await inner.begin(execution: execution)
    }
    func finish(
        sessionID: String, intentID: String, at: Milliseconds, payload: @escaping @Sendable (Int64) -> String
    ) async throws -> EventRecord {
        await gate.pass()
        return try await inner.finish(sessionID: sessionID, intentID: intentID, at: at, payload: payload)
    }
    func execution(sessionID: String, intentID: String) async throws -> ExecutionRecord? {
        await gate.pass()
        return try await inner.execution(sessionID: sessionID, intentID: intentID)
    }
    func interruptedExecutions(livingNodes: Set<String>, limit: Int) async throws -> [ExecutionRecord] {
        await gate.pass()
        return try await inner.interruptedExecutions(livingNodes: livingNodes, limit: limit)
    }
    func events(sessionID: String, after seq: Int64, limit: Int) async throws -> [EventRecord] {
        await gate.pass()
        return try await inner.events(sessionID: sessionID, after: seq, limit: limit)
    }
    func eventBounds(sessionID: String) async throws -> (first: Int64, last: Int64) {
        await gate.pass()
        return try await inner.eventBounds(sessionID: sessionID)
    }
    func beat(nodeID: String, at: Milliseconds, within: Milliseconds) async throws -> Set<String> {
        await gate.pass()
        return try await inner.beat(nodeID: nodeID, at: at, within: within)
    }
    func put(artifact: ArtifactRecord, expectedVersion: Int64?) async throws -> ArtifactRecord? {
        await gate.pass()
        return try await inner.put(artifact: artifact, expectedVersion: expectedVersion)
    }
    func artifact(tenantID: String, userID: String, name: String) async throws -> ArtifactRecord? {
        await gate.pass()
        return try await inner.artifact(tenantID: tenantID, userID: userID, name: name)
    }
    func artifacts(tenantID: String, userID: String, limit: Int) async throws -> [ArtifactRecord] {
        await gate.pass()
        return try await inner.artifacts(tenantID: tenantID, userID: userID, limit: limit)
    }
    func transition(
        tenantID: String, userID: String, name: String, version: Int64, from: ArtifactRecord.State,
        to: ArtifactRecord.State, at: Milliseconds
    ) async throws -> ArtifactRecord? {
        await gate.pass()
        return try await inner.transition(
            tenantID: tenantID, userID: userID, name: name, version: version, from: from, to: to, at: at)
    }
    func put(ticket: TicketRecord, limit: Int, now: Milliseconds) async throws -> Bool {
        await gate.pass()
        return try await inner.put(ticket: ticket, limit: limit, now: now)
    }
    func ticket(hash: [UInt8]) async throws -> TicketRecord? {
        await gate.pass()
        return try await inner.ticket(hash: hash)
    }
    func take(ticketHash: [UInt8]) async throws -> TicketRecord? {
        await gate.pass()
        return try await inner.take(ticketHash: ticketHash)
    }
    func registeredKeys() async throws -> Set<String> {
        await gate.pass()
        return try await inner.registeredKeys()
    }
    func register(signingKey: String, held: Set<String>, superseded: Set<String>) async throws -> Bool {
        await gate.pass()
        return try await inner.register(signingKey: signingKey, held: held, superseded: superseded)
    }
    func count(key: String, adding: Int64, window: Milliseconds, now: Milliseconds) async throws -> Int64 {
        await gate.pass()
        return try await inner.count(key: key, adding: adding, window: window, now: now)
    }
}

/// Holds those who are being scheduled; lets everybody else pass.
final class StepGate: Sendable {
    @TaskLocal static var isScheduled = false

    private struct State {
        var waiting: [CheckedContinuation<Void, Never>] = []
        var finished = 0
    }

    private let state = Mutex(State())

    func pass() async {
        guard Self.isScheduled else { return }
        await withCheckedContinuation { continuation in state.withLock { $0.waiting.append(continuation) } }
    }

    func finish() { state.withLock { $0.finished += 1 } }

    /// Waits until all of so many callers wait or have finished. Whether some still wait.
    func settle(_ count: Int) async -> Bool {
        while true {
            let (waiting, finished) = state.withLock { ($0.waiting.count, $0.finished) }
            if waiting + finished == count { return waiting > 0 }
            await Task.yield()
        }
    }

    /// Lets one of those who wait go on.
    func step(_ dice: inout some RandomNumberGenerator) {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else { return nil }
            return state.waiting.remove(at: Int.random(in: 0..<state.waiting.count, using: &dice))
        }
        next?.resume()
    }

    func reset() { state.withLock { $0.finished = 0 } }
}
