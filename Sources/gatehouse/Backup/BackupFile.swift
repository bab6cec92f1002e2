import Encodings
import Libcrypto
import Runtime
import StateSurface

/// The lines of a copy of the store: a header, then for each table its columns and its rows, and at the end the number
/// of rows and a digest of everything before: the SHA-256 of each line after that of the line before. Each line is
/// JSON. A blob is a list of one text, its base64url.
///
/// The format is the same for both databases, so that a copy of one can be restored into the other.
enum BackupFile {
    /// The version of the form of the lines, not that of the tables.
    static let format: Int64 = 1
    /// The longest line that is read, in bytes. The largest value of the store has a few megabytes.
    static let longestLine = 64 << 20
    private static let limits = JSONLimits(maxBytes: longestLine, maxStringBytes: longestLine)

    /// The first line.
    static func header(version: Int, at time: Int64) -> String {
        JSONValue.object([
            "gatehouse_backup": .integer(format), "schema_version": .integer(Int64(version)),
            "created_at": .string(Timestamp.text(time)),
        ]).serialized()
    }

    /// The line of a table or a row.
    static func line(_ item: BackupItem) -> String {
        switch item {
        case .table(let name, let columns):
            return JSONValue.object([
                "table": .string(name), "columns": .array(columns.map { .string($0) }),
            ]).serialized()
        case .row(let values): return JSONValue.array(values.map(value)).serialized()
        }
    }

    /// The last line.
    static func footer(rows: Int64, digest: [UInt8]) -> String {
        JSONValue.object(["rows": .integer(rows), "sha256": .string(Hexadecimal.text(digest))]).serialized()
    }

    /// A value of a row as JSON.
    private static func value(_ value: BackupItem.Value) -> JSONValue {
        switch value {
        case .null: .null
        case .integer(let number): .integer(number)
        case .text(let text): .string(text)
        case .blob(let bytes): .array([.string(Base64URL.encode(bytes))])
        }
    }

    /// The schema version of a header; nil for another line.
    static func version(ofHeader line: [UInt8]) -> Int? {
        guard let object = try? StrictJSON.object(line), object["gatehouse_backup"]?.int64Value == format else {
            return nil
        }
        return object["schema_version"]?.int64Value.flatMap { Int(exactly: $0) }
    }

    /// The item of a line; nil for a line of another form.
    static func item(_ line: [UInt8]) -> BackupItem? {
        guard let json = try? StrictJSON.parse(line, limits: limits) else { return nil }
        if let values = json.arrayValue {
            var row: [BackupItem.Value] = []
            for value in values {
                guard let read = read(value) else { return nil }
                row.append(read)
            }
            return .row(row)
        }
        guard let object = json.objectValue, let name = object["table"]?.stringValue,
            let columns = object["columns"]?.arrayValue
        else { return nil }
        let names = columns.compactMap(\.stringValue)
        return names.count == columns.count ? .table(name, columns: names) : nil
    }

    /// The value that JSON stands for; nil for what ``value(_:)`` never writes.
    private static func read(_ value: JSONValue) -> BackupItem.Value? {
        if let text = value.stringValue { return .text(text) }
        if let number = value.int64Value { return .integer(number) }
        if let blob = value.arrayValue {
            guard blob.count == 1, let text = blob.first?.stringValue else { return nil }
            return Base64URL.decode(text).map { .blob($0) }
        }
        if case .null = value { return .null }
        return nil
    }

    /// The number of rows and the digest that a footer states; nil for another line.
    static func footer(_ line: [UInt8]) -> (rows: Int64, digest: String)? {
        guard let object = try? StrictJSON.object(line), let rows = object["rows"]?.int64Value,
            let digest = object["sha256"]?.stringValue
        else { return nil }
        return (rows, digest)
    }
}
