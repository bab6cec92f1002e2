/// The store, above either database. One file per kind of record extends it.
struct SQLSurface: StateSurface {
    let engine: any SQLEngine
    let clock: @Sendable () -> Milliseconds

    func subscribe(_ observer: @escaping @Sendable (Change) -> Void) -> Subscription {
        engine.observers.subscribe(observer)
    }

    func sinceLastBeat() -> Duration { engine.sinceLastBeat() }
    func feedIsLost() -> Bool { engine.feedIsLost() }
    func ping() async throws { try await engine.ping() }
    func close() async { await engine.close() }

    // MARK: Used by the extensions

    /// No stored text holds a NUL, so a question about one that does is answered without being asked.
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

    func limit(_ count: Int) -> SQLValue { .integer(Int64(max(0, count))) }

    /// `?first, ?first+1, …`
    static func parameters(_ count: Int, from first: Int = 1) -> String {
        (0..<count).map { "?\(first + $0)" }.joined(separator: ", ")
    }
}
