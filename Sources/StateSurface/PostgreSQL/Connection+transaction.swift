import CLibpq
import Glibc

/// One statement and its parameters, `?1`, `?2` …
struct PostgresStatement {
    let sql: String
    var values: [SQLValue] = []
}

/// Transactions that spare round trips: BEGIN goes with the first statement, COMMIT with the last, and what nobody waits
/// for an answer to goes with the next that somebody does (libpq's pipeline mode).
extension Connection {
    /// Opens a transaction with the next statement that is sent.
    func begin() throws {
        try noticeClosing()
        hasBegun = false
        waiting = [PostgresStatement(sql: "BEGIN")]
    }

    /// Sends a statement together with the next one; its failure is thrown by that one, or by the commit.
    func post(_ sql: String, _ values: [SQLValue]) throws {
        try refuseNUL(in: values)
        waiting.append(PostgresStatement(sql: sql, values: values))
    }

    /// Makes the transaction durable. Its answer's tag tells whether it is.
    func commit() throws -> PostgresAnswer {
        // One that asked for nothing was never begun.
        if !hasBegun, waiting.count <= 1 { return abandon() }
        return try query("COMMIT", [])
    }

    /// Undoes what the transaction has done so far.
    func rollback() throws {
        waiting = []
        if hasBegun { _ = try run("ROLLBACK") }
    }

    private func abandon() -> PostgresAnswer {
        waiting = []
        return PostgresAnswer(tag: "COMMIT")
    }

    /// A server that closed a connection while it lay idle has said so: what is sent to it would be lost, and it could
    /// not be known whether it was carried out.
    private func noticeClosing() throws {
        for _ in 0..<8 {
            guard try wait(for: Int16(POLLIN), milliseconds: 0) else { return }
            guard PQconsumeInput(raw) == 1 else { throw lost("the server closed the connection") }
        }
    }

    // MARK: Together

    func queryWithWaiting(_ statement: PostgresStatement) throws -> PostgresAnswer {
        let all = waiting + [statement]
        waiting = []
        hasBegun = true
        return try together(all)
    }

    /// Sends statements in one go and collects what each has come to. After the first that fails none is run.
    /// - Returns: the answer of the last.
    private func together(_ statements: [PostgresStatement]) throws -> PostgresAnswer {
        let parameters = try statements.map { try PostgresParameters($0.values) }
        guard isUsable, PQenterPipelineMode(raw) == 1 else { throw lost("cannot send") }
        // For each thing that is sent the text it prepares; nil for what is run.
        var steps: [String?] = []
        var names = prepared
        for (statement, parameters) in zip(statements, parameters) {
            let sql = statement.sql
            if names[sql] == nil, names.count < Self.preparedLimit {
                let name = "s\(names.count)"
                guard PQsendPrepare(raw, name, Self.translated(sql), 0, nil) == 1 else { throw lost("cannot send") }
                names[sql] = name
                steps.append(sql)
            }
            guard enqueue(sql, named: names[sql], parameters) == 1 else { throw lost("cannot send") }
            steps.append(nil)
        }
        guard PQpipelineSync(raw) == 1 else { throw lost("cannot send") }
        try flush()
        return try collect(steps, names)
    }

    private func collect(_ steps: [String?], _ names: [String: String]) throws -> PostgresAnswer {
        let deadline = ContinuousClock.now + patience
        var last = PostgresAnswer()
        var fault: PostgresFault?
        for preparedText in steps {
            do {
                last = try answer(until: deadline)
                if let preparedText { prepared[preparedText] = names[preparedText] }
            } catch let error as PostgresFault {
                guard isUsable else { throw error }
                fault = fault ?? error
            }
        }
        try leavePipeline(until: deadline)
        if let fault { throw fault }
        return last
    }

    /// Behind the last answer comes the word that the server is ready for more.
    private func leavePipeline(until deadline: ContinuousClock.Instant) throws {
        guard let end = try nextResult(until: deadline) else { throw lost("the server lost its place") }
        let isEnd = PQresultStatus(end) == PGRES_PIPELINE_SYNC
        PQclear(end)
        guard isEnd, try nextResult(until: deadline) == nil, PQexitPipelineMode(raw) == 1 else {
            throw lost("the server lost its place")
        }
    }
}
