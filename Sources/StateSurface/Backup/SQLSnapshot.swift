/// A view of the whole store as it was at one moment.
protocol SQLSnapshot {
    /// Runs a statement and returns its rows.
    func rows(_ sql: String) throws -> [SQLRow]
    /// Runs a statement and gives its rows to `body`, one after the other, without keeping them all in memory.
    func each(_ sql: String, _ body: (SQLRow) throws -> Void) throws
}

/// An engine that can give a snapshot.
protocol SnapshotEngine: SQLEngine {
    /// Runs `body` with a snapshot. Writes go on meanwhile.
    func snapshot(_ body: @escaping @Sendable (any SQLSnapshot) throws -> Void) async throws
}
