/// One row of an answer. Its columns are read from left to right.
struct SQLRow: Sendable {
    private let values: [SQLValue]
    private var position = 0

    init(_ values: [SQLValue]) {
        self.values = values
    }

    /// All values, from left to right.
    var all: [SQLValue] { values }

    private mutating func next() throws -> SQLValue {
        guard position < values.count else { throw Self.unreadable }
        defer { position += 1 }
        return values[position]
    }

    /// The next column; nil for NULL. Like all readers of columns, it throws `.corrupt` for a value of another type or
    /// if there is no column left.
    mutating func optionalInteger() throws -> Int64? {
        switch try next() {
        case .null: nil
        case .integer(let value): value
        default: throw Self.unreadable
        }
    }

    mutating func optionalText() throws -> String? {
        switch try next() {
        case .null: nil
        case .text(let value): value
        default: throw Self.unreadable
        }
    }

    mutating func optionalBlob() throws -> [UInt8]? {
        switch try next() {
        case .null: nil
        case .blob(let value): value
        default: throw Self.unreadable
        }
    }

    mutating func integer() throws -> Int64 { try Self.present(optionalInteger()) }
    mutating func text() throws -> String { try Self.present(optionalText()) }
    mutating func blob() throws -> [UInt8] { try Self.present(optionalBlob()) }
    mutating func flag() throws -> Bool { try integer() != 0 }
    mutating func scope() throws -> [String] { try text().split(separator: " ").map(String.init) }

    /// Reads a text that is the raw value of an enumeration.
    ///
    /// - Throws: `.corrupt` for a text that is not one of them, which a newer version may have written.
    mutating func word<Word: RawRepresentable>(_ type: Word.Type) throws -> Word where Word.RawValue == String {
        try Self.present(Word(rawValue: text()))
    }

    private static func present<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw unreadable }
        return value
    }

    private static var unreadable: StateSurfaceError {
        StateSurfaceError(.corrupt, "a row does not have the shape this version writes")
    }
}
