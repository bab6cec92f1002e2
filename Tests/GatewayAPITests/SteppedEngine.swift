@testable import StateSurface

/// A database whose every transaction and question waits until the test lets it through, for callers that are being
/// scheduled.
struct SteppedEngine: SQLEngine {
    let inner: any SQLEngine
    let gate: StepGate
    /// Thrown where a question is asked, for which its SQL is given.
    var fault: @Sendable (_ sql: String) throws -> Void = { _ in }

    var dialect: SQLDialect { inner.dialect }
    var observers: Observers { inner.observers }

    /// One step: nothing can come between what a transaction reads and what it writes.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        await gate.pass()
        return try await inner.write(body)
    }

    func rows(_ sql: String, _ values: [SQLValue]) async throws -> [SQLRow] {
        await gate.pass()
        try fault(sql)
        return try await inner.rows(sql, values)
    }

    func sinceLastBeat() -> Duration { inner.sinceLastBeat() }
    func feedIsLost() -> Bool { inner.feedIsLost() }
    func ping() async throws { try await inner.ping() }
    func close() async { await inner.close() }
}
