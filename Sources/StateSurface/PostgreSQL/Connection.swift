import CLibpq
import Glibc

/// One libpq connection. Only this class calls libpq. It is not Sendable, and is used only where it was created.
///
/// Every call has a deadline, so that a server that does not answer cannot block its caller.
final class Connection {
    /// The deadline for one statement. The server's `statement_timeout` is shorter.
    var patience: Duration = .seconds(7)
    private(set) var isUsable = true

    let raw: OpaquePointer  // PGconn
    /// The names of the prepared statements, by their texts.
    var prepared: [String: String] = [:]
    static let preparedLimit = 256
    /// The statements to send together with the next one whose answer is needed.
    var waiting: [SQLStatement] = []
    /// Whether the transaction's BEGIN has been sent.
    var hasBegun = false

    /// Connects, and blocks until the server has answered or the settings' `connect_timeout` is over.
    ///
    /// - Throws: ``PostgresFault``, with libpq's reason unless that is about the URL, which may hold a password.
    init(_ settings: PostgresSettings) throws {
        guard let raw = settings.withCStrings({ PQconnectdbParams($0, $1, 1) }) else {
            throw PostgresFault.lost("no memory for a connection")
        }
        self.raw = raw
        // By default, libpq prints notices to standard error.
        _ = PQsetNoticeReceiver(raw, { _, _ in }, nil)
        guard PQstatus(raw) == CONNECTION_OK else {
            throw PostgresFault.unreachable(Self.reason(PQerrorMessage(raw)))
        }
        guard PQsetnonblocking(raw, 1) == 0 else { throw lost("cannot be made non-blocking") }
    }

    deinit { PQfinish(raw) }

    /// Whether libpq can parse this connection URL.
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
    ///
    /// Several statements may be separated by semicolons; the last one's answer is returned. Its values are text and
    /// cannot be read.
    func run(_ sql: String) throws -> PostgresAnswer {
        try send { PQsendQuery(raw, sql) }
        return try answer()
    }

    /// Runs one statement, which is prepared the first time. Parameters are `?1`, `?2` …
    ///
    /// The statements in ``waiting`` are sent before it, without waiting for their answers. Up to ``preparedLimit``
    /// texts are prepared; others are parsed each time.
    func query(_ sql: String, _ values: [SQLValue]) throws -> PostgresAnswer {
        guard waiting.isEmpty else { return try queryWithWaiting(SQLStatement(sql: sql, values: values)) }
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

    /// Queues one statement in libpq, which sends it with the next flush.
    ///
    /// - Returns: 1, or 0 if libpq refuses it, in which case the connection is lost.
    func enqueue(_ sql: String, named name: String?, _ parameters: PostgresParameters) -> CInt {
        parameters.withPointers { count, pointers, lengths, formats in
            if let name {
                PQsendQueryPrepared(raw, name, count, pointers, lengths, formats, 1)
            } else {
                PQsendQueryParams(raw, Self.translated(sql), count, nil, pointers, lengths, formats, 1)
            }
        }
    }

    /// The statement with PostgreSQL's `$1` for `?1`. Every question mark is replaced, so no statement may have one
    /// elsewhere.
    static func translated(_ sql: String) -> String {
        String(decoding: sql.utf8.map { $0 == UInt8(ascii: "?") ? UInt8(ascii: "$") : $0 }, as: UTF8.self)
    }

    // MARK: Listening

    /// The number of the server process behind this connection.
    var backendID: CInt { PQbackendPID(raw) }

    /// Waits up to `milliseconds` for input, or for input on another descriptor, and returns the notifications that
    /// have arrived.
    func receive(milliseconds: Int64, or other: CInt) throws -> [PostgresNotification] {
        // Some may have come with the last answer.
        var found = notifications()
        guard found.isEmpty else { return found }
        guard try wait(for: Int16(POLLIN), milliseconds: milliseconds, or: other) else { return [] }
        guard PQconsumeInput(raw) == 1 else { throw lost("the server closed the connection") }
        found = notifications()
        return found
    }

    private func notifications() -> [PostgresNotification] {
        var found: [PostgresNotification] = []
        while let notification = PQnotifies(raw) {
            defer { PQfreemem(notification) }
            found.append(PostgresNotification(backendID: notification.pointee.be_pid))
        }
        return found
    }

    // MARK: The wire

    private func send(_ call: () -> CInt) throws {
        guard isUsable, call() == 1 else { throw lost("cannot send") }
        try flush()
    }

    /// Sends what libpq has queued.
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

    /// Waits for the next result; nil if the statement has no more. The caller must clear it.
    func nextResult(until deadline: ContinuousClock.Instant) throws -> OpaquePointer? {
        while PQisBusy(raw) == 1 {
            guard try wait(for: Int16(POLLIN), until: deadline) else { throw silent() }
            guard PQconsumeInput(raw) == 1 else { throw lost("the server closed the connection") }
        }
        return PQgetResult(raw)
    }

    /// Reads all results of what was sent. Returns the last one, or throws the first error.
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
        // An earlier statement has failed, and its error is thrown.
        case PGRES_PIPELINE_ABORTED: throw PostgresFault.refused(sqlState: "25P02")
        default: break
        }
        // 'C' is PG_DIAG_SQLSTATE. The message may quote a row, so it is not passed on.
        let state = PQresultErrorField(result, CInt(UInt8(ascii: "C"))).map { String(cString: $0) }
        guard let state, PQstatus(raw) == CONNECTION_OK else { throw lost("the server closed the connection") }
        throw PostgresFault.refused(sqlState: state)
    }

    private func silent() -> PostgresFault {
        isUsable = false
        return .silent
    }

    /// Marks the connection as unusable and returns the error to throw.
    func lost(_ why: String) -> PostgresFault {
        isUsable = false
        return .lost(why)
    }

    private func wait(for events: Int16, until deadline: ContinuousClock.Instant) throws -> Bool {
        let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
        return left > 0 ? try wait(for: events, milliseconds: Int64(left) + 1) : false
    }

    /// - Parameter other: another descriptor whose input ends the wait as well; poll ignores a negative one.
    func wait(for events: Int16, milliseconds: Int64, or other: CInt = -1) throws -> Bool {
        var descriptors = [
            pollfd(fd: PQsocket(raw), events: events, revents: 0), pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        guard PQsocket(raw) >= 0 else { throw lost("the connection is closed") }
        let count = poll(&descriptors, 2, CInt(clamping: milliseconds))
        guard count >= 0 || errno == EINTR else { throw lost("cannot wait for the server") }
        // An interrupted wait counts as input: the caller checks and waits again.
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

    /// Why no connection could be made. Messages about the URL may quote a part of it, and in a mistyped URL that may
    /// be a part of the password, so they are not passed on.
    private static func reason(_ message: UnsafePointer<CChar>?) -> String {
        let text = message.map { String(cString: $0) } ?? ""
        if text.hasPrefix("could not translate host name") { return "its host name cannot be resolved" }
        guard text.hasPrefix("connection to server") else { return "libpq does not accept the URL" }
        let lines = text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
        // libpq's question is dropped: the caller adds its own advice.
        return lines.filter { !$0.hasPrefix("Is the server running") }.joined(separator: "; ")
    }
}
