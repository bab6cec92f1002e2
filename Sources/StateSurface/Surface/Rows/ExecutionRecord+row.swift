extension ExecutionRecord {
    static let columns = "session_id, intent_id, intent, node_id, epoch, created_at, seq, outcome"

    init(row: SQLRow) throws {
        var row = row
        self.init(
            sessionID: try row.text(), intentID: try row.text(), intent: try row.text(),
            nodeID: try row.text(), epoch: try row.integer(), createdAt: try row.integer(),
            seq: try row.optionalInteger(), outcome: try row.optionalText())
    }

    /// The values to insert. A record is inserted before it is finished, so without `seq` and `outcome`. The column
    /// `fingerprint` is there for nodes of earlier versions, which fill it; nothing was ever compared with it.
    var values: [SQLValue] {
        [
            .text(sessionID), .text(intentID), .text(intent), .blob([]), .text(nodeID), .integer(epoch),
            .integer(createdAt),
        ]
    }
}

extension EventRecord {
    static let columns = "session_id, seq, payload"

    init(row: SQLRow) throws {
        var row = row
        self.init(sessionID: try row.text(), seq: try row.integer(), payload: try row.text())
    }
}

extension ArtifactRecord {
    static let columns = "tenant_id, user_id, name, version, state, content, updated_at"

    init(row: SQLRow) throws {
        var row = row
        self.init(
            tenantID: try row.text(), userID: try row.text(), name: try row.text(), version: try row.integer(),
            state: try row.word(State.self), content: try row.text(), updatedAt: try row.integer())
    }
}
