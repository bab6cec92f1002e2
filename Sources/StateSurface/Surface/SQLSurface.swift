/// The store on either database. Each file that extends it has the SQL for one kind of record: the operations inside a
/// transaction as an extension of ``SQLTransaction``, and the role that uses them.
struct SQLSurface: StateSurface {
    let engine: any SQLEngine
    let clock: @Sendable () -> Milliseconds

    var capabilities: StoreCapabilities { engine.capabilities }

    func transaction<Outcome: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        try await engine.write { try body($0) }
    }

    func subscribe(_ observer: @escaping @Sendable (Change) -> Void) -> Subscription {
        engine.observers.subscribe(observer)
    }

    func sinceLastBeat() -> Duration { engine.sinceLastBeat() }
    func feedIsLost() -> Bool { engine.feedIsLost() }
    func ping() async throws { try await engine.ping() }
    func close() async { await engine.close() }

    // MARK: Used by the extensions

    /// Runs a SELECT. No stored text contains NUL, so with such a parameter the answer is empty.
    func rows(_ sql: String, _ values: [SQLValue]) async throws -> [SQLRow] {
        if values.contains(where: \.holdsNUL) { return [] }
        return try await engine.rows(sql, values)
    }

    func row(_ sql: String, _ values: [SQLValue]) async throws -> SQLRow? {
        try await rows(sql, values).first
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await engine.write(body)
    }
}

/// `?first, ?first+1, …`
func sqlParameters(_ count: Int, from first: Int = 1) -> String {
    (0..<count).map { "?\(first + $0)" }.joined(separator: ", ")
}
