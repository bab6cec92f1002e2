import Synchronization

/// The store on either database. Each file that extends it has the SQL for one kind of record: the operations inside a
/// transaction as an extension of ``SQLTransaction``, and the role that uses them.
struct SQLSurface: StateSurface, TimedStore, RefusingStore {
    let engine: any SQLEngine
    let clock: @Sendable () -> Milliseconds
    private let times = StoreTimes()
    private let tally = WriteTally()
    private let eventWriter = EventWriterBox()

    init(engine: any SQLEngine, clock: @escaping @Sendable () -> Milliseconds) {
        self.engine = engine
        self.clock = clock
    }

    func setEventWriter(_ writer: EventWriter?) { eventWriter.set(writer) }

    func report(to observer: @escaping @Sendable (_ operation: String, _ time: Duration) -> Void) {
        times.report(to: observer)
    }

    func refusedWrites() -> RefusedWrites { tally.value }

    var capabilities: StoreCapabilities { engine.dialect.capabilities }

    func transaction<Outcome: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        try await write { try body($0) }
    }

    func subscribe(_ observer: @escaping @Sendable (Change) -> Void) -> Subscription {
        engine.observers.subscribe(observer)
    }

    func sinceLastBeat() -> Duration { engine.sinceLastBeat() }
    func feedIsLost() -> Bool { engine.feedIsLost() }
    func ping() async throws { try await engine.ping() }
    func close() async { await engine.close() }

    // MARK: Used by the extensions

    // The operation is named after the function that calls these.

    /// Runs a SELECT. No stored text contains NUL, so with such a parameter the answer is empty.
    func rows(
        _ sql: String, _ values: [SQLValue], operation: StaticString = #function
    ) async throws -> [SQLRow] {
        if values.contains(where: \.holdsNUL) { return [] }
        return try await times.time(operation) { try await engine.rows(sql, values) }
    }

    func row(_ sql: String, _ values: [SQLValue], operation: StaticString = #function) async throws -> SQLRow? {
        try await rows(sql, values, operation: operation).first
    }

    /// - Parameter first: the SELECT that the body begins with, if that is known.
    func write<Value: Sendable>(
        operation: StaticString = #function, reading first: SQLStatement? = nil,
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        let body = tellingEvents(body)
        return try await times.time(operation) {
            try await tally.count {
                guard let first else { return try await engine.write(body) }
                return try await engine.write(reading: first, body)
            }
        }
    }

    private func tellingEvents<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) -> @Sendable (any SQLTransaction) throws -> Value {
        guard let writer = eventWriter.value else { return body }
        let deliveries = writer.deliveries()
        return { transaction in
            // A transaction that is run again begins with a line of its own.
            transaction.events = TransactionEvents(deliveries, limit: writer.limit)
            defer { transaction.events = nil }
            return try body(transaction)
        }
    }
}

/// Who makes deliveries of what transactions do, which is known only when the store is open.
final class EventWriterBox: Sendable {
    private let writer = Mutex<EventWriter?>(nil)

    var value: EventWriter? { writer.withLock { $0 } }
    func set(_ value: EventWriter?) { writer.withLock { $0 = value } }
}

/// `?first, ?first+1, …`
func sqlParameters(_ count: Int, from first: Int = 1) -> String {
    (0..<count).map { "?\(first + $0)" }.joined(separator: ", ")
}
