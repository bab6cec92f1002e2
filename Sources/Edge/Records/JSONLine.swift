import HTTPWire
import NIOCore

/// Writes one flat JSON object with a newline, without making values of it first.
struct JSONLine {
    private var pen: BytePen
    private var isFirst = true

    private init(_ pen: BytePen) { self.pen = pen }

    /// Appends a line to a buffer.
    ///
    /// - Parameter body: writes the members, one at least. It is called again where there was too little room.
    static func append(to buffer: inout ByteBuffer, _ body: (inout JSONLine) -> Void) {
        BytePen.append(to: &buffer, expecting: 1024) { pen in
            var line = JSONLine(pen)
            body(&line)
            line.pen.write(literal: "}\n")
            pen = line.pen
        }
    }

    /// Writes what stands before a member's value, in one piece: a line has some twenty of them.
    ///
    /// - Parameter opensText: whether the quote that begins a text is written as well.
    private mutating func name(_ name: StaticString, opensText: Bool = false) {
        let end = 2 + name.utf8CodeUnitCount
        guard let room = pen.take(end + (opensText ? 3 : 2)) else { return }
        room[0] = isFirst ? UInt8(ascii: "{") : UInt8(ascii: ",")
        isFirst = false
        room[1] = UInt8(ascii: "\"")
        UnsafeMutableRawBufferPointer(rebasing: room[2..<end]).copyMemory(
            from: UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        room[end] = UInt8(ascii: "\"")
        room[end + 1] = UInt8(ascii: ":")
        if opensText { room[end + 2] = UInt8(ascii: "\"") }
    }

    /// A text member; nothing for nil.
    mutating func text(_ name: StaticString, _ value: String?) {
        guard var value else { return }
        value.withUTF8 { text(name, UnsafeRawBufferPointer($0)) }
    }

    /// A text member of bytes. Bytes that are not UTF-8 are replaced.
    mutating func text(_ name: StaticString, _ value: [UInt8]) { value.withUnsafeBytes { text(name, $0) } }

    /// A text member of bytes. Bytes that are not UTF-8 are replaced.
    mutating func text(_ name: StaticString, _ value: UnsafeRawBufferPointer) {
        self.name(name, opensText: true)
        // Names and paths are nearly always ASCII without anything to escape.
        if Self.isPlain(value) {
            pen.write(value)
        } else {
            for byte in String(decoding: value, as: UTF8.self).utf8 { write(escaped: byte) }
        }
        pen.write(byte: UInt8(ascii: "\""))
    }

    private static func isPlain(_ value: UnsafeRawBufferPointer) -> Bool {
        // Without an early exit, so that the compiler can vectorise the loop.
        var others: UInt8 = 0
        for byte in value { others |= byte &- 0x20 >= 0x5F || byte == 0x22 || byte == 0x5C ? 1 : 0 }
        return others == 0
    }

    private mutating func write(escaped byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): pen.write(literal: "\\\"")
        case UInt8(ascii: "\\"): pen.write(literal: "\\\\")
        case 0..<0x20, 0x7F:
            pen.write(literal: "\\u00")
            pen.write(byte: Self.digit(byte >> 4))
            pen.write(byte: Self.digit(byte & 15))
        default: pen.write(byte: byte)
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

    /// A whole number; nothing for nil.
    mutating func number(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        self.name(name)
        pen.write(decimal: value)
    }

    /// A time in milliseconds with three places after the point; nothing for nil.
    mutating func milliseconds(_ name: StaticString, _ time: TimeAmount?) {
        guard let time else { return }
        self.name(name)
        let micros = max(0, time.nanoseconds / 1_000)
        pen.write(decimal: micros / 1_000)
        pen.write(byte: UInt8(ascii: "."))
        pen.write(decimal: micros % 1_000, width: 3)
    }

    /// A member that the caller writes, without its quotes.
    mutating func text(_ name: StaticString, written write: (inout BytePen) -> Void) {
        self.name(name, opensText: true)
        write(&pen)
        pen.write(byte: UInt8(ascii: "\""))
    }
}
