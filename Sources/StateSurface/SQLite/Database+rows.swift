import GRDB
import GRDBSQLite

/// Runs statements with SQLite's C functions.
///
/// GRDB manages the connection, its queue and the prepared statements. Binding and reading rows through GRDB take
/// several times as long as a lookup by index, so these two are done here.
extension Database {
    /// Runs a cached statement to its end and copies its rows.
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
            // The pointer must be asked for first, because that determines the encoding in which the length is counted.
            let start = sqlite3_column_text(statement, column)
            let count = Int(sqlite3_column_bytes(statement, column))
            return .text(String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(statement, column)
            let count = Int(sqlite3_column_bytes(statement, column))
            return .blob([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
        default:
            // No column has floating-point numbers; only an integer that overflowed would be one.
            return .null
        }
    }
}

/// Parameters for SQLite: texts and blobs in one allocation, which SQLite reads in place.
private struct SQLiteParameters {
    private let values: [SQLValue]
    private var bytes: [UInt8] = []
    /// The offset at which each value's bytes begin.
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
        // So that an empty text at the end has an address, too.
        bytes.append(0)
    }

    private func count(at index: Int) -> CInt {
        let end = index + 1 < offsets.count ? offsets[index + 1] : bytes.count - 1
        return CInt(clamping: end - offsets[index])
    }

    /// Runs `body` with the values bound to the statement, and resets the statement afterwards.
    func withBound<Result>(to statement: SQLiteStatement, _ body: () throws -> Result) throws -> Result {
        try bytes.withUnsafeBytes { memory in
            defer {
                // Returns the error of the last step again, which has been thrown already.
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
        // Without a destructor, SQLite reads the bytes in place; they stay valid until the reset.
        switch values[index] {
        case .null: return sqlite3_bind_null(statement, place)
        case .integer(let value): return sqlite3_bind_int64(statement, place, value)
        case .text:
            return sqlite3_bind_text(
                statement, place, start?.assumingMemoryBound(to: CChar.self), count(at: index), nil)
        case .blob(let blob):
            // An empty blob is different from null.
            return blob.isEmpty
                ? sqlite3_bind_zeroblob(statement, place, 0)
                : sqlite3_bind_blob(statement, place, start, count(at: index), nil)
        }
    }
}
