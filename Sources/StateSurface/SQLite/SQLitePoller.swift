import Dispatch
import GRDB
import Synchronization

/// Looks five times a second for changes by other processes, mostly the command line.
final class SQLitePoller: Sendable {
    private struct Position {
        var dataVersion: Int64?
        var lastSeq: Int64
    }

    private static let interval = DispatchTimeInterval.milliseconds(200)

    let heartbeat = Heartbeat()
    private let path: String
    private let identity: [UInt64]?
    private let origin: String
    private let observers: Observers
    /// A separate connection, because `data_version` shows only commits of other connections.
    private let connection: DatabaseQueue
    private let position: Mutex<Position>
    private let queue = DispatchQueue(label: "gatehouse.state.poller")
    private let isStopped = Atomic(false)

    init(path: String, origin: String, observers: Observers) throws {
        self.path = path
        self.origin = origin
        self.observers = observers
        identity = SQLiteFile.identity(of: path)
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(1)
        configuration.label = "gatehouse.state.poller"
        connection = try DatabaseQueue(path: path, configuration: configuration)
        let last = try connection.read { try Int64.fetchOne($0, sql: "SELECT MAX(seq) FROM changes") }
        position = Mutex(Position(dataVersion: nil, lastSeq: last ?? 0))
        schedule()
    }

    /// Returns when a poll that has begun is over. Afterwards no change is reported.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        queue.sync {}
        try? connection.close()
    }

    private func schedule() {
        queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in
            guard let self, !isStopped.load(ordering: .relaxed) else { return }
            poll()
            schedule()
        }
    }

    private func poll() {
        let start = ContinuousClock.now
        // If the file was moved or replaced, other processes use another one, so the heartbeats stop.
        guard identity == SQLiteFile.identity(of: path), let found = try? changes() else { return }
        observers.notify(found)
        heartbeat.proved(at: start)
    }

    private func changes() throws -> [Change] {
        try connection.read { database in
            try position.withLock { position in
                let version = try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA data_version"))
                guard version != position.dataVersion else { return [] }
                let found = try news(after: position.lastSeq, in: database)
                position.dataVersion = version
                position.lastSeq = found.lastSeq
                return found.changes
            }
        }
    }

    private func news(after lastSeq: Int64, in database: Database) throws -> (changes: [Change], lastSeq: Int64) {
        var bounds = try database.rows("SELECT MIN(seq), MAX(seq) FROM changes", []).first
        guard let first = try bounds?.optionalInteger(), let last = try bounds?.optionalInteger(), last > lastSeq
        else { return ([], lastSeq) }
        let rows = try database.rows(
            "SELECT payload FROM changes WHERE seq > ?1 AND origin <> ?2 ORDER BY seq",
            [.integer(lastSeq), .text(origin)])
        let changes = try rows.map { row in
            var row = row
            return Change(text: try row.text())
        }
        // Rows were removed before this process read them.
        return (first > lastSeq + 1 ? [.reset] + changes : changes, last)
    }
}
