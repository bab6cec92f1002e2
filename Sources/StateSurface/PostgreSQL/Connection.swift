import CLibpq
import Glibc

/// One libpq connection; the only code that sees libpq. Not Sendable: whoever made it keeps it.
///
/// Every call has a deadline: a server that accepts bytes and never answers must not hold its caller.
final class Connection {
    /// How long one statement may take here; the server's own `statement_timeout` is shorter.
    var patience: Duration = .seconds(7)
    private(set) var isUsable = true

    let raw: OpaquePointer  // PGconn
    /// The names of the statements that the server has prepared, by their texts.
    var prepared: [String: String] = [:]
    static let preparedLimit = 256
    /// What is sent together with the next statement whose answer somebody waits for.
    var waiting: [PostgresStatement] = []
    /// Whether the transaction's BEGIN has been sent.
    var hasBegun = false

    init(_ settings: PostgresSettings) throws {
        guard let raw = settings.withCStrings({ PQconnectdbParams($0, $1, 1) }) else {
            throw PostgresFault.lost("no memory for a connection")
        }
        self.raw = raw
        // libpq prints notices to standard error unless told otherwise.
        _ = PQsetNoticeReceiver(raw, { _, _ in }, nil)
        guard PQstatus(raw) == CONNECTION_OK else {
            throw PostgresFault.unreachable(Self.reason(PQerrorMessage(raw)))
        }
        guard PQsetnonblocking(raw, 1) == 0 else { throw lost("cannot be made non-blocking") }
    }

    deinit { PQfinish(raw) }

    /// Whether libpq can read this as a connection URL.
    static func isReadable(url: String) -> Bool {
        var message: UnsafeMutablePointer<CChar>?
        let options = PQconninfoParse(url, &message)
        defer {
            PQconninfoFree(options)
            PQfreemem(message)
        }
        return options != nil
    }

    // MARK: Statements

    /// Runs statements without parameters.
    func run(_ sql: String) throws -> PostgresAnswer {
        try send { PQsendQuery(raw, sql) }
        return try answer()
    }

    /// Runs one statement, prepared the first time it is seen. Parameters are `?1`, `?2` …
    func query(_ sql: String, _ values: [SQLValue]) throws -> PostgresAnswer {
        guard waiting.isEmpty else { return try queryWithWaiting(PostgresStatement(sql: sql, values: values)) }
        if prepared[sql] == nil, prepared.count < Self.preparedLimit {
            let name = "s\(prepared.count)"
            try send { PQsendPrepare(raw, name, Self.translated(sql), 0, nil) }
            _ = try answer()
            prepared[sql] = name
        }
        let parameters = try PostgresParameters(values)
        try send { enqueue(sql, named: prepared[sql], parameters) }
        return try answer()
    }

    /// Hands one statement to libpq, which sends it when it is told to.
    func enqueue(_ sql: String, named name: String?, _ parameters: PostgresParameters) -> CInt {
        parameters.withPointers { count, pointers, lengths, formats in
            if let name {
                PQsendQueryPrepared(raw, name, count, pointers, lengths, formats, 1)
            } else {
                PQsendQueryParams(raw, Self.translated(sql), count, nil, pointers, lengths, formats, 1)
            }
        }
    }

    static func translated(_ sql: String) -> String {
        String(decoding: sql.utf8.map { $0 == UInt8(ascii: "?") ? UInt8(ascii: "$") : $0 }, as: UTF8.self)
    }

    // MARK: Listening

    /// Sends a statement whose answer `receive` will collect. Only while no other is under way.
    func post(_ sql: String) throws {
        try send { PQsendQuery(raw, sql) }
    }

    /// Waits up to `milliseconds` for input and returns the notifications that have come.
    func receive(milliseconds: Int64) throws -> [PostgresNotification] {
        _ = try wait(for: Int16(POLLIN), milliseconds: milliseconds)
        guard PQconsumeInput(raw) == 1 else { throw lost("the server closed the connection") }
        while PQisBusy(raw) == 0, let result = PQgetResult(raw) {
            defer { PQclear(result) }
            try check(result)
        }
        var found: [PostgresNotification] = []
        while let notification = PQnotifies(raw) {
            defer { PQfreemem(notification) }
            found.append(
                PostgresNotification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra)))
        }
        return found
    }

    // MARK: The wire

    private func send(_ call: () -> CInt) throws {
        guard isUsable, call() == 1 else { throw lost("cannot send") }
        try flush()
    }

    /// Sends what libpq holds.
    func flush() throws {
        let deadline = ContinuousClock.now + patience
        while true {
            let rest = PQflush(raw)
            if rest == 0 { return }
            guard rest == 1 else { throw lost("the server closed the connection") }
            guard try wait(for: Int16(POLLIN | POLLOUT), until: deadline) else { throw silent() }
            guard PQconsumeInput(raw) == 1 else { throw lost("the server closed the connection") }
        }
    }

    private func answer() throws -> PostgresAnswer {
        try answer(until: ContinuousClock.now + patience)
    }

    /// Waits for the next result; nil when a statement has no more. Whoever gets one clears it.
    func nextResult(until deadline: ContinuousClock.Instant) throws -> OpaquePointer? {
        while PQisBusy(raw) == 1 {
            guard try wait(for: Int16(POLLIN), until: deadline) else { throw silent() }
            guard PQconsumeInput(raw) == 1 else { throw lost("the server closed the connection") }
        }
        return PQgetResult(raw)
    }

    /// Collects all results of what was sent; the last one counts, the first error wins.
    func answer(until deadline: ContinuousClock.Instant) throws -> PostgresAnswer {
        var answer = PostgresAnswer()
        var fault: PostgresFault?
        while let result = try nextResult(until: deadline) {
            defer { PQclear(result) }
            do {
                try check(result)
                if fault == nil { answer = Self.read(result) }
            } catch let error as PostgresFault {
                fault = fault ?? error
            }
        }
        if let fault { throw fault }
        return answer
    }

    private func check(_ result: OpaquePointer) throws {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return
        // Something sent before it has failed, which is what counts.
        case PGRES_PIPELINE_ABORTED: throw PostgresFault.refused(sqlState: "25P02")
        default: break
        }
        // 'C' is PG_DIAG_SQLSTATE. The message itself may quote a row: it stays here.
        let state = PQresultErrorField(result, CInt(UInt8(ascii: "C"))).map { String(cString: $0) }
        guard let state, PQstatus(raw) == CONNECTION_OK else { throw lost("the server closed the connection") }
        throw PostgresFault.refused(sqlState: state)
    }

    private func silent() -> PostgresFault {
        isUsable = false
        return .silent
    }

    func lost(_ why: String) -> PostgresFault {
        isUsable = false
        return .lost(why)
    }

    private func wait(for events: Int16, until deadline: ContinuousClock.Instant) throws -> Bool {
        let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
        return left > 0 ? try wait(for: events, milliseconds: Int64(left) + 1) : false
    }

    func wait(for events: Int16, milliseconds: Int64) throws -> Bool {
        var descriptor = pollfd(fd: PQsocket(raw), events: events, revents: 0)
        guard descriptor.fd >= 0 else { throw lost("the connection is closed") }
        let count = poll(&descriptor, 1, CInt(clamping: milliseconds))
        guard count >= 0 || errno == EINTR else { throw lost("cannot wait for the server") }
        // Interrupted counts as woken: the caller looks and waits again.
        return count != 0
    }

    // MARK: Reading

    private static func read(_ result: OpaquePointer) -> PostgresAnswer {
        let columns = PQnfields(result)
        let rows = (0..<PQntuples(result)).map { row in
            SQLRow((0..<columns).map { value(result, row, $0) })
        }
        let changed = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
        return PostgresAnswer(rows: rows, changed: changed, tag: String(cString: PQcmdStatus(result)))
    }

    private static func value(_ result: OpaquePointer, _ row: CInt, _ column: CInt) -> SQLValue {
        guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else { return .null }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column)))
        // The type numbers of pg_type, which never change. Results of `run` are text and are not read.
        switch PQftype(result, column) {
        case 16, 20, 21, 23:  // bool, int8, int2, int4, big-endian
            guard PQfformat(result, column) == 1, let first = bytes.first else { return .null }
            let sign: Int64 = first >= 0x80 && bytes.count > 1 ? -1 : 0
            return .integer(bytes.reduce(sign) { $0 << 8 | Int64($1) })
        case 17:  // bytea
            return PQfformat(result, column) == 1 ? .blob([UInt8](bytes)) : .null
        case 18, 19, 25, 1042, 1043:  // char, name, text, bpchar, varchar
            return .text(String(decoding: bytes, as: UTF8.self))
        default:
            return .null
        }
    }

    /// Why no connection came about. Complaints about the URL itself may quote a part of it, which a mistyped URL
    /// can make a part of the password: they are not passed on.
    private static func reason(_ message: UnsafePointer<CChar>?) -> String {
        let text = message.map { String(cString: $0) } ?? ""
        if text.hasPrefix("could not translate host name") { return "its host name cannot be resolved" }
        guard text.hasPrefix("connection to server") else { return "libpq does not accept the URL" }
        let lines = text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
        // What libpq asks the reader is asked again, with what to mend, by whoever shows this.
        return lines.filter { !$0.hasPrefix("Is the server running") }.joined(separator: "; ")
    }
}
