import CLibpq
import Glibc

/// Transactions with few round trips, in libpq's pipeline mode: BEGIN is sent with the first statement, COMMIT with the
/// last, and statements whose answer is not needed are sent with the next one whose answer is.
extension Connection {
    /// Opens a transaction with the next statement that is sent.
    ///
    /// - Throws: ``PostgresFault`` if the server has closed the connection meanwhile; nothing was sent then.
    func begin() throws {
        try noticeClosing()
        hasBegun = false
        waiting = [SQLStatement(sql: "BEGIN")]
    }

    /// Sends a statement together with the next one. If it fails, the next one or the commit throws.
    func post(_ sql: String, _ values: [SQLValue]) throws {
        try refuseNUL(in: values)
        waiting.append(SQLStatement(sql: sql, values: values))
    }

    /// Commits the transaction. The tag of the answer says whether it was committed.
    ///
    /// A transaction in which only BEGIN is waiting is not sent at all.
    func commit() throws -> PostgresAnswer {
        // A transaction without statements was never begun.
        if !hasBegun, waiting.count <= 1 { return abandon() }
        return try query("COMMIT", [])
    }

    /// Rolls the transaction back.
    func rollback() throws {
        waiting = []
        if hasBegun { _ = try run("ROLLBACK") }
    }

    /// Undoes everything since the savepoint. If the savepoint was not sent yet, nothing since it was either.
    func rollbackToSavepoint(_ name: String) throws {
        if let place = waiting.lastIndex(where: { $0.sql == "SAVEPOINT \(name)" }) {
            waiting.removeSubrange(place...)
            return
        }
        waiting = []
        _ = try run("ROLLBACK TO SAVEPOINT \(name)")
    }

    private func abandon() -> PostgresAnswer {
        waiting = []
        return PostgresAnswer(tag: "COMMIT")
    }

    /// Reads what the server sent while the connection was idle, to notice that it closed the connection. A statement
    /// sent to it would be lost, and it would not be known whether it was executed.
    private func noticeClosing() throws {
        for _ in 0..<8 {
            guard try wait(for: Int16(POLLIN), milliseconds: 0) else { return }
            guard PQconsumeInput(raw) == 1 else { throw lost("the server closed the connection") }
        }
    }

    // MARK: Pipelining

    func queryWithWaiting(_ statement: SQLStatement) throws -> PostgresAnswer {
        let all = waiting + [statement]
        waiting = []
        hasBegun = true
        return try together(all).last ?? PostgresAnswer()
    }

    /// Sends several statements together with those that wait, and reads their answers, in their order.
    func queries(_ statements: [SQLStatement]) throws -> [PostgresAnswer] {
        for statement in statements { try refuseNUL(in: statement.values) }
        let all = waiting + statements
        waiting = []
        hasBegun = true
        return Array(try together(all).suffix(statements.count))
    }

    /// Sends several statements at once and reads their answers. After the first that fails, none is executed.
    /// - Returns: the answer of each.
    private func together(_ statements: [SQLStatement]) throws -> [PostgresAnswer] {
        let parameters = try statements.map { try PostgresParameters($0.values) }
        guard isUsable, PQenterPipelineMode(raw) == 1 else { throw lost("cannot send") }
        // For each message sent, the statement that it prepares; nil for one that executes.
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

    private func collect(_ steps: [String?], _ names: [String: String]) throws -> [PostgresAnswer] {
        let deadline = ContinuousClock.now + patience
        var answers: [PostgresAnswer] = []
        var fault: PostgresFault?
        for preparedText in steps {
            do {
                let answer = try answer(until: deadline)
                if let preparedText {
                    prepared[preparedText] = names[preparedText]
                } else {
                    answers.append(answer)
                }
            } catch let error as PostgresFault {
                guard isUsable else { throw error }
                fault = fault ?? error
            }
        }
        try leavePipeline(until: deadline)
        if let fault { throw fault }
        return answers
    }

    /// Reads the message after the last answer, by which the server says that it is ready.
    private func leavePipeline(until deadline: ContinuousClock.Instant) throws {
        guard let end = try nextResult(until: deadline) else { throw lost("the server lost its place") }
        let isEnd = PQresultStatus(end) == PGRES_PIPELINE_SYNC
        PQclear(end)
        guard isEnd, try nextResult(until: deadline) == nil, PQexitPipelineMode(raw) == 1 else {
            throw lost("the server lost its place")
        }
    }
}
