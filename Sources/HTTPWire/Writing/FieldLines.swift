import NIOCore

/// Fields that are written once and sent in many heads: as the lines of HTTP/1.1, with the place of each.
///
/// HTTP/1.1 copies the lines. What needs a field's name and value reads them by their places, without looking for the
/// ends of lines.
public struct FieldLines: Sendable {
    /// The fields, each with its line end.
    public private(set) var bytes = ByteBuffer()
    /// Where the values are. Between a name and its value are a colon and a space, and a CRLF behind the value.
    private var values: [ByteRange] = []

    /// No fields.
    public init() {}

    /// Writes a field. Neither its name nor its value may have a byte that could end a line.
    public mutating func add(_ name: String, _ value: String) {
        bytes.writeString(name)
        bytes.writeStaticString(": ")
        let start = bytes.readableBytes
        bytes.writeString(value)
        values.append(ByteRange(start: start, end: bytes.readableBytes))
        bytes.writeStaticString("\r\n")
    }

    /// The name and the value of each field, in their order.
    public var pairs: [(name: String, value: String)] {
        var lineStart = 0
        return values.map { value in
            defer { lineStart = value.end + 2 }
            return (text(ByteRange(start: lineStart, end: value.start - 2)), text(value))
        }
    }

    private func text(_ range: ByteRange) -> String {
        bytes.getString(at: bytes.readerIndex + range.start, length: range.count) ?? ""
    }
}
