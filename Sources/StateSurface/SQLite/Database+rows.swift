import GRDB
import GRDBSQLite

/// Statements run through SQLite's own calls.
///
/// GRDB keeps the connection, the queue it belongs to and the prepared statements. Its way of binding and of copying
/// rows out takes several times as long as SQLite does to look something up by an index, so those two are done here.
extension Database {
    /// Runs a statement of the connection's cache to its end and copies its rows out.
    func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
        let statement = try cachedStatement(sql: sql)
        defer { withExtendedLifetime(statement) {} }
        let raw = statement.sqliteStatement
        return try SQLiteParameters(values).withBound(to: raw) { try Self.collect(raw) }
    }

    private static func collect(_ statement: SQLiteStatement) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_DONE: return rows
            case SQLITE_ROW: rows.append(row(of: statement))
            case let code: throw DatabaseError(resultCode: ResultCode(rawValue: code))
            }
        }
    }

    private static func row(of statement: SQLiteStatement) -> SQLRow {
        let count = sqlite3_column_count(statement)
        var values: [SQLValue] = []
        values.reserveCapacity(Int(count))
        for column in 0..<count { values.append(value(of: statement, column)) }
        return SQLRow(values)
    }

    private static func value(of statement: SQLiteStatement, _ column: CInt) -> SQLValue {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER:
            return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_TEXT:
            // The pointer first: asking for it decides what the length is counted in.
            let start = sqlite3_column_text(statement, column)
            let count = Int(sqlite3_column_bytes(statement, column))
            return .text(String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(statement, column)
            let count = Int(sqlite3_column_bytes(statement, column))
            return .blob([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
        default:
            // No column holds a floating-point number; an integer that overflowed would be one.
            return .null
        }
    }
}

/// Values as SQLite takes them: texts and blobs in one piece of memory that it reads in place.
private struct SQLiteParameters {
    private let values: [SQLValue]
    private var bytes: [UInt8] = []
    /// Where each value's bytes begin; those without bytes begin where the next do.
    private var offsets: [Int] = []

    init(_ values: [SQLValue]) {
        self.values = values
        offsets.reserveCapacity(values.count)
        bytes.reserveCapacity(512)
        for value in values {
            offsets.append(bytes.count)
            switch value {
            case .null, .integer: break
            case .text(let text): bytes.append(contentsOf: text.utf8)
            case .blob(let blob): bytes.append(contentsOf: blob)
            }
        }
        // So that even a text without bytes at the end of all has an address.
        bytes.append(0)
    }

    private func count(at index: Int) -> CInt {
        let end = index + 1 < offsets.count ? offsets[index + 1] : bytes.count - 1
        return CInt(clamping: end - offsets[index])
    }

    /// Runs `body` while the statement has these values, and leaves it ready for its next use.
    func withBound<Result>(to statement: SQLiteStatement, _ body: () throws -> Result) throws -> Result {
        try bytes.withUnsafeBytes { memory in
            defer {
                // Errors of the last step come back from here once more; they have been thrown already.
                _ = sqlite3_reset(statement)
                _ = sqlite3_clear_bindings(statement)
            }
            for index in values.indices {
                let code = bind(index, to: statement, memory)
                guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            }
            return try body()
        }
    }

    private func bind(_ index: Int, to statement: SQLiteStatement, _ memory: UnsafeRawBufferPointer) -> CInt {
        let place = CInt(clamping: index + 1)
        let start = memory.baseAddress?.advanced(by: offsets[index])
        // Without a destructor SQLite reads the bytes where they lie, which is where they stay until the reset.
        switch values[index] {
        case .null: return sqlite3_bind_null(statement, place)
        case .integer(let value): return sqlite3_bind_int64(statement, place, value)
        case .text:
            return sqlite3_bind_text(
                statement, place, start?.assumingMemoryBound(to: CChar.self), count(at: index), nil)
        case .blob(let blob):
            // A blob without bytes is not the same as none.
            return blob.isEmpty
                ? sqlite3_bind_zeroblob(statement, place, 0)
                : sqlite3_bind_blob(statement, place, start, count(at: index), nil)
        }
    }
}
