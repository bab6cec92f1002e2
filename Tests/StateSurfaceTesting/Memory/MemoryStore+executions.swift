import StateSurface

// MARK: In the tables
extension MemoryTables {
    /// - Returns: nil if the execution was recorded, otherwise the one that has its id.
    mutating func begin(execution: ExecutionRecord) throws -> ExecutionRecord? {
        try refuseNUL(in: execution.sessionID, execution.intentID, execution.intent, execution.nodeID)
        if let earlier = executions[execution.sessionID]?[execution.intentID] { return earlier }
        executions[execution.sessionID, default: [:]][execution.intentID] = execution
        return nil
    }

    /// An intent that is finished keeps its first event.
    mutating func finish(sessionID: String, intentID: String, payload: (Int64) -> String) throws -> EventRecord {
        guard let execution = executions[sessionID]?[intentID] else {
            throw StateSurfaceError(.failed, "an execution finished that never began")
        }
        if let seq = execution.seq {
            return EventRecord(sessionID: sessionID, seq: seq, payload: execution.outcome ?? payload(seq))
        }
        let seq = (lastNumbers[sessionID] ?? 0) + 1
        let event = EventRecord(sessionID: sessionID, seq: seq, payload: payload(seq))
        lastNumbers[sessionID] = seq
        executions[sessionID]?[intentID]?.seq = seq
        executions[sessionID]?[intentID]?.outcome = event.payload
        events[sessionID, default: []].append(event)
        changes.append(.events(sessionID: sessionID, lastSeq: seq))
        return event
    }

    /// Those that began first, first.
    func interruptedExecutions(livingNodes: Set<String>, limit: Int) -> [ExecutionRecord] {
        let open = executions.values.flatMap(\.values).filter { $0.seq == nil && !livingNodes.contains($0.nodeID) }
        return Array(open.sorted { ($0.createdAt, $0.intentID) < ($1.createdAt, $1.intentID) }.prefix(limit))
    }
}

// MARK: The role
extension MemoryStore: ExecutionStore {
    package func begin(execution: ExecutionRecord) async throws -> ExecutionRecord? {
        try write { try $0.begin(execution: execution) }
    }

    package func finish(
        sessionID: String, intentID: String, at: Milliseconds, payload: @escaping @Sendable (Int64) -> String
    ) async throws -> EventRecord {
        try write { try $0.finish(sessionID: sessionID, intentID: intentID, payload: payload) }
    }

    package func execution(sessionID: String, intentID: String) async throws -> ExecutionRecord? {
        try read { $0.executions[sessionID]?[intentID] }
    }

    package func interruptedExecutions(livingNodes: Set<String>, limit: Int) async throws -> [ExecutionRecord] {
        try read { $0.interruptedExecutions(livingNodes: livingNodes, limit: limit) }
    }

    package func events(sessionID: String, after seq: Int64, limit: Int) async throws -> [EventRecord] {
        try read { tables in Array((tables.events[sessionID] ?? []).filter { $0.seq > seq }.prefix(limit)) }
    }

    package func eventBounds(sessionID: String) async throws -> (first: Int64, last: Int64) {
        try read { tables -> (first: Int64, last: Int64) in
            let events = tables.events[sessionID] ?? []
            return (events.first?.seq ?? 1, events.last?.seq ?? 0)
        }
    }
}
