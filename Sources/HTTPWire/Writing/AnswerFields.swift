import NIOCore

/// Fields of an answer, in the form in which the client's connection sends them.
///
/// HTTP/1.1 sends lines (RFC 9112 section 5), so they are written as lines at once. HTTP/2 sends each name and value by
/// itself (RFC 9113 section 8.2), so there they are kept apart, and no line is made.
public struct AnswerFields: Sendable {
    /// How a connection sends fields.
    public enum Form: Sendable {
        /// HTTP/1.1: each as a line with its line end.
        case lines
        /// HTTP/2: each as a name in lower case and a value.
        case pairs
    }

    /// How these are sent.
    public let form: Form
    /// The lines; empty over HTTP/2.
    public private(set) var lines: ByteBuffer
    /// The fields in their order, names in lower case; empty over HTTP/1.1.
    public private(set) var pairs: [(name: String, value: String)] = []

    /// No fields yet.
    ///
    /// - Parameter capacity: the bytes that the lines will take, as far as is known.
    public init(_ form: Form, capacity: Int = 0) {
        self.form = form
        lines = ByteBuffer()
        switch form {
        case .lines: if capacity > 0 { lines.reserveCapacity(capacity) }
        case .pairs: pairs.reserveCapacity(16)
        }
    }

    /// Adds one field. One whose value could end a line is left out: such a value can only be a mistake of the gateway.
    ///
    /// - Parameter name: a field name as HTTP/1.1 spells it; over HTTP/2 it is sent in lower case.
    public mutating func add(_ name: String, _ value: String) {
        guard Self.isSafe(value) else { return }
        switch form {
        case .lines:
            // In one piece: the buffer asks for each whether it has room.
            BytePen.append(to: &lines, expecting: name.utf8.count + value.utf8.count + 4) { pen in
                pen.write(name)
                pen.write(literal: ": ")
                pen.write(value)
                pen.write(literal: "\r\n")
            }
        case .pairs: addPair(name, value)
        }
    }

    /// Adds one field, of whose value no string is made over HTTP/1.1.
    ///
    /// - Parameters:
    ///   - size: how many bytes the value is expected to have.
    ///   - write: writes the value, no byte of which may end a line; the same whenever it is called.
    public mutating func add(_ name: String, expecting size: Int, writing write: (inout BytePen) -> Void) {
        switch form {
        case .lines:
            BytePen.append(to: &lines, expecting: name.utf8.count + size + 4) { pen in
                pen.write(name)
                pen.write(literal: ": ")
                write(&pen)
                pen.write(literal: "\r\n")
            }
        case .pairs: addPair(name, String(buffer: BytePen.written(expecting: size, write)))
        }
    }

    /// Adds the status line that HTTP/1.1 begins with; over HTTP/2 the status is a field of its own, which the
    /// connection adds.
    public mutating func addStatusLine(_ status: Int) {
        if form == .lines { HeadWriter.statusLine(status, to: &lines) }
    }

    /// Adds the status line of a head that is passed on, with its own reason phrase, which HTTP/2 does not have.
    public mutating func addStatusLine(of head: ResponseHead) {
        if form == .lines { HeadWriter.statusLine(of: head, to: &lines) }
    }

    /// Adds the fields of a head that is passed on, in its order and as they were sent.
    ///
    /// - Parameters:
    ///   - head: the head of an upstream's answer.
    ///   - passes: whether a field goes on.
    public mutating func add(of head: ResponseHead, where passes: (HeaderField) -> Bool) {
        switch form {
        case .lines: addLines(of: head, where: passes)
        case .pairs:
            for field in head.fields where passes(field) {
                addPair(head.string(field.name), head.string(field.value))
            }
        }
    }

    /// Copies the lines that stand next to each other at one go.
    private mutating func addLines(of head: ResponseHead, where passes: (HeaderField) -> Bool) {
        var run: ByteRange?
        for field in head.fields {
            guard passes(field) else {
                endRun(&run, of: head)
                continue
            }
            if let piece = run, piece.end + 2 == field.name.start {
                run = ByteRange(start: piece.start, end: field.value.end)
            } else {
                endRun(&run, of: head)
                run = ByteRange(start: field.name.start, end: field.value.end)
            }
        }
        endRun(&run, of: head)
    }

    private mutating func endRun(_ run: inout ByteRange?, of head: ResponseHead) {
        guard let piece = run.take() else { return }
        head.withBytes(piece) { _ = lines.writeBytes($0) }
        lines.writeStaticString("\r\n")
    }

    /// Adds fields that are kept written out for many heads.
    public mutating func add(_ kept: FieldLines) {
        switch form {
        case .lines: lines.writeImmutableBuffer(kept.bytes)
        case .pairs: for field in kept.pairs { addPair(field.name, field.value) }
        }
    }

    /// Takes the lines out, so that what is added to them is added in place and not to a copy.
    public mutating func takeLines() -> ByteBuffer {
        var taken = ByteBuffer()
        swap(&taken, &lines)
        return taken
    }

    private mutating func addPair(_ name: String, _ value: String) {
        let name = name.lowercased()
        if !Self.ofHTTP11.contains(name) { pairs.append((name, value)) }
    }

    /// Fields that only concern a connection of HTTP/1.1, and are not sent over HTTP/2 (RFC 9113 section 8.2.2).
    private static let ofHTTP11: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer",
        "transfer-encoding", "upgrade", "http2-settings", "sec-websocket-accept",
    ]

    private static func isSafe(_ value: String) -> Bool {
        var value = value
        return value.withUTF8 { bytes in
            for byte in bytes where byte < 0x20 && byte != 0x09 || byte == 0x7f { return false }
            return true
        }
    }
}
