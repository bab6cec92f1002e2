import NIOCore

/// Writes heads and chunk framing.
///
/// Names are always literals. A value that was not already accepted by a parser goes through `field(_:checking:to:)`,
/// which never writes a byte that could end the line.
public enum HeadWriter {
    /// `HTTP/1.1 200 OK`.
    ///
    /// A number outside 100 to 999 is written as 500 with its phrase, so that the line always has the form of RFC 9112
    /// section 4.
    public static func statusLine(_ status: Int, to buffer: inout ByteBuffer) {
        let status = (100...999).contains(status) ? status : 500
        let phrase = StatusPhrase.of(status)
        BytePen.append(to: &buffer, expecting: 64) { pen in
            pen.write(literal: "HTTP/1.1 ")
            pen.write(decimal: Int64(status))
            pen.write(byte: Byte.space)
            pen.write(literal: phrase)
            pen.write(literal: "\r\n")
        }
    }

    /// The status line of an answer that is passed on, with its own reason phrase.
    public static func statusLine(of head: ResponseHead, to buffer: inout ByteBuffer) {
        // Nearly always the line is already as it would be written: "HTTP/1.1 200 " has thirteen bytes.
        if head.versionMinor == 1, head.reason.start == 13 {
            copy(ByteRange(start: 0, end: head.reason.end), of: head, to: &buffer)
            return endLine(to: &buffer)
        }
        buffer.writeStaticString("HTTP/1.1 ")
        decimal(Int64(head.status), to: &buffer)
        buffer.writeInteger(Byte.space)
        copy(head.reason, of: head, to: &buffer)
        endLine(to: &buffer)
    }

    /// A field with a literal value.
    public static func field(_ name: StaticString, _ value: StaticString, to buffer: inout ByteBuffer) {
        startField(name, to: &buffer)
        buffer.writeStaticString(value)
        endLine(to: &buffer)
    }

    /// A field with a number.
    public static func field(_ name: StaticString, _ value: Int64, to buffer: inout ByteBuffer) {
        BytePen.append(to: &buffer, expecting: name.utf8CodeUnitCount + 24) { pen in
            pen.write(literal: name)
            pen.write(literal: ": ")
            pen.write(decimal: value)
            pen.write(literal: "\r\n")
        }
    }

    /// A field with a value made at run time; false, and nothing written, when a byte of it is not field content.
    @discardableResult
    public static func field(
        _ name: StaticString, checking value: some Collection<UInt8>, to buffer: inout ByteBuffer
    ) -> Bool {
        guard value.allSatisfy(\.isFieldContent) else { return false }
        startField(name, to: &buffer)
        buffer.writeBytes(value)
        endLine(to: &buffer)
        return true
    }

    /// A field with a value made at run time; false, and nothing written, when a byte of it is not field content.
    @discardableResult
    public static func field(_ name: StaticString, checking value: String, to buffer: inout ByteBuffer) -> Bool {
        field(name, checking: value.utf8, to: &buffer)
    }

    /// A field of another head as it was sent there, but with one space before its value and none behind it.
    public static func field(copying field: HeaderField, of head: some MessageHead, to buffer: inout ByteBuffer) {
        head.bytes.withUnsafeReadableBytes { bytes in
            let (name, value) = (field.name, field.value)
            guard name.end < bytes.count, value.end <= bytes.count, name.end <= value.start else { return }
            if value.start == name.end + 2, bytes[name.end + 1] == Byte.space {
                // As nearly all are written: one piece from name to value.
                buffer.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[name.start..<value.end]))
            } else {
                buffer.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[name.start..<name.end]))
                buffer.writeStaticString(": ")
                buffer.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[value.start..<value.end]))
            }
        }
        endLine(to: &buffer)
    }

    /// `Date`.
    ///
    /// - Parameter secondsSince1970: clamped to the years 1970 to 9999.
    public static func date(_ secondsSince1970: Int64, to buffer: inout ByteBuffer) {
        startField("date", to: &buffer)
        HTTPDate.write(secondsSince1970, to: &buffer)
        endLine(to: &buffer)
    }

    /// The size line before the data of a chunk; `length` must be more than nothing, or the body would end here.
    ///
    /// - Parameter length: bytes of data that follow; written in lower-case hexadecimal digits (RFC 9112 section 7.1).
    ///   For 0 or less nothing is written.
    public static func chunkHeader(length: Int, to buffer: inout ByteBuffer) {
        guard length > 0 else { return }
        var shift = (Int.bitWidth - 1 - length.leadingZeroBitCount) / 4 * 4
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: length >> shift) & 0x0F
            buffer.writeInteger(digit < 10 ? Byte.zero + digit : 0x61 + digit - 10)
            shift -= 4
        }
        endLine(to: &buffer)
    }

    /// The line end behind the data of a chunk, to be written as it is.
    public static let chunkEnd = ByteBuffer(string: "\r\n")

    /// The chunk that ends a body, to be written as it is.
    public static let lastChunk = ByteBuffer(string: "0\r\n\r\n")

    private static func startField(_ name: StaticString, to buffer: inout ByteBuffer) {
        buffer.writeStaticString(name)
        buffer.writeStaticString(": ")
    }

    private static func endLine(to buffer: inout ByteBuffer) {
        buffer.writeInteger(0x0D0A, as: UInt16.self)
    }

    private static func copy(_ range: ByteRange, of head: some MessageHead, to buffer: inout ByteBuffer) {
        head.withBytes(range) { bytes in _ = buffer.writeBytes(bytes) }
    }

    private static func decimal(_ value: Int64, to buffer: inout ByteBuffer) {
        guard value >= 10 || value < 0 else {
            buffer.writeInteger(Byte.zero + UInt8(truncatingIfNeeded: value))
            return
        }
        buffer.writeString(String(value))
    }
}
