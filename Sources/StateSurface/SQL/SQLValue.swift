/// A value of either database.
enum SQLValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    static func optional(_ value: Int64?) -> Self { value.map(Self.integer) ?? .null }
    static func optional(_ value: String?) -> Self { value.map(Self.text) ?? .null }
    static func optional(_ value: [UInt8]?) -> Self { value.map(Self.blob) ?? .null }
    static func flag(_ value: Bool) -> Self { .integer(value ? 1 : 0) }
    /// A number of rows; a negative number means 0.
    static func limit(_ count: Int) -> Self { .integer(Int64(max(0, count))) }
    /// A scope as text, separated by spaces, which scope tokens do not contain (RFC 6749 section 3.3).
    static func scope(_ value: [String]) -> Self { .text(value.joined(separator: " ")) }

    /// Whether it is a text with NUL. SQLite would truncate it and PostgreSQL refuses it, so it is refused before.
    var holdsNUL: Bool {
        guard case .text(let text) = self else { return false }
        // A loop over the buffer is several times as fast as one over `utf8`.
        return text.utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? text.utf8.contains(0)
    }
}
