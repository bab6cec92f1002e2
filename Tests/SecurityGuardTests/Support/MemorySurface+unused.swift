import StateSurface

/// What SecurityGuard has no business with. A call is a failure of the test.
extension MemorySurface {
    private var unused: StateSurfaceError { StateSurfaceError(.failed, "not for SecurityGuard") }

    func insert(session: SessionRecord) async throws { throw unused }
    func session(id: String) async throws -> SessionRecord? { throw unused }
    func session(secretHash: [UInt8]) async throws -> SessionRecord? { throw unused }
    func replace(session record: SessionRecord) async throws -> Bool { throw unused }
    func liveSessions(
        tenantID: String, userID: String, now: Milliseconds, limit: Int
    ) async throws -> [SessionRecord] { throw unused }
    func sessions(limit: Int) async throws -> [SessionRecord] { throw unused }
    func surplusSessions(userID: String, sparing: String, limit: Int) async throws -> [SurplusSession] { throw unused }
    func sharedSecret(name: String, candidate: [UInt8]) async throws -> [UInt8] { throw unused }
    func endSessions(familyID: String, at: Milliseconds) async throws -> [String] { throw unused }
    func touch(sessions: [(id: String, lastSeenAt: Milliseconds)]) async throws { throw unused }
    func expireSessions(now: Milliseconds, limit: Int) async throws -> [String] { throw unused }
    func begin(execution: ExecutionRecord) async throws -> ExecutionRecord? { throw unused }
    func finish(
        sessionID: String, intentID: String, at: Milliseconds, payload: @escaping @Sendable (Int64) -> String
    ) async throws -> EventRecord { throw unused }
    func execution(sessionID: String, intentID: String) async throws -> ExecutionRecord? { throw unused }
    func interruptedExecutions(livingNodes: Set<String>, limit: Int) async throws -> [ExecutionRecord] { throw unused }
    func events(sessionID: String, after seq: Int64, limit: Int) async throws -> [EventRecord] { throw unused }
    func eventBounds(sessionID: String) async throws -> (first: Int64, last: Int64) { throw unused }
    func beat(nodeID: String, at: Milliseconds, within: Milliseconds) async throws -> Set<String> { throw unused }
    func put(ticket: TicketRecord, limit: Int, now: Milliseconds) async throws -> Bool { throw unused }
    func ticket(hash: [UInt8]) async throws -> TicketRecord? { throw unused }
    func take(ticketHash: [UInt8]) async throws -> TicketRecord? { throw unused }
    func put(artifact: ArtifactRecord, expectedVersion: Int64?) async throws -> ArtifactRecord? { throw unused }
    func artifact(tenantID: String, userID: String, name: String) async throws -> ArtifactRecord? { throw unused }
    func artifacts(tenantID: String, userID: String, limit: Int) async throws -> [ArtifactRecord] { throw unused }
    func transition(
        tenantID: String, userID: String, name: String, version: Int64, from: ArtifactRecord.State,
        to: ArtifactRecord.State, at: Milliseconds
    ) async throws -> ArtifactRecord? { throw unused }
}
