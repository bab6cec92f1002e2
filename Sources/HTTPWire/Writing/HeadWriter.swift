import NIOCore

/// Writes message heads and the framing of chunks.
///
/// Names are literals. A value that has not passed a parser must be written with ``field(_:checking:to:)``, which
/// refuses bytes that could end the line.
package enum HeadWriter {
    /// Writes a status line with the standard reason phrase, such as `HTTP/1.1 200 OK`.
    package static func statusLine(_ status: Int, to buffer: inout ByteBuffer) {
        buffer.writeStaticString("HTTP/1.1 ")
        decimal(Int64((100...999).contains(status) ? status : 500), to: &buffer)
        buffer.writeInteger(Byte.space)
        buffer.writeStaticString(StatusPhrase.of(status))
        endLine(to: &buffer)
    }

    /// Writes the status line of a response that is forwarded, with its own reason phrase.
    package static func statusLine(of head: ResponseHead, to buffer: inout ByteBuffer) {
        buffer.writeStaticString("HTTP/1.1 ")
        decimal(Int64(head.status), to: &buffer)
        buffer.writeInteger(Byte.space)
        copy(head.reason, of: head, to: &buffer)
        endLine(to: &buffer)
    }

    /// Writes a request line such as `GET /path?query HTTP/1.1` with the method of `head`, and with the path and query
    /// to forward.
    package static func requestLine(
        of head: RequestHead, path: ByteBuffer, query: ByteBuffer?, to buffer: inout ByteBuffer
    ) {
        copy(head.method, of: head, to: &buffer)
        buffer.writeInteger(Byte.space)
        buffer.writeImmutableBuffer(path)
        if let query {
            buffer.writeInteger(Byte.questionMark)
            buffer.writeImmutableBuffer(query)
        }
        buffer.writeStaticString(" HTTP/1.1\r\n")
    }

    /// Writes a field with a literal value.
    package static func field(_ name: StaticString, _ value: StaticString, to buffer: inout ByteBuffer) {
        startField(name, to: &buffer)
        buffer.writeStaticString(value)
        endLine(to: &buffer)
    }

    /// Writes a field with a number in decimal.
    package static func field(_ name: StaticString, _ value: Int64, to buffer: inout ByteBuffer) {
        startField(name, to: &buffer)
        decimal(value, to: &buffer)
        endLine(to: &buffer)
    }

    /// Writes a field with a value made at run time. Returns false and writes nothing if a byte is not allowed in a
    /// field value.
    @discardableResult
    package static func field(
        _ name: StaticString, checking value: some Collection<UInt8>, to buffer: inout ByteBuffer
    ) -> Bool {
        guard value.allSatisfy(\.isFieldContent) else { return false }
        startField(name, to: &buffer)
        buffer.writeBytes(value)
        endLine(to: &buffer)
        return true
    }

    /// Writes a field with a value made at run time. Returns false and writes nothing if a byte is not allowed in a
    /// field value.
    @discardableResult
    package static func field(_ name: StaticString, checking value: String, to buffer: inout ByteBuffer) -> Bool {
        field(name, checking: value.utf8, to: &buffer)
    }

    /// Writes a field of another head as it was sent, but with exactly one space before the value and none after it.
    package static func field(copying field: HeaderField, of head: some MessageHead, to buffer: inout ByteBuffer) {
        head.bytes.withUnsafeReadableBytes { bytes in
            let (name, value) = (field.name, field.value)
            guard name.end < bytes.count, value.end <= bytes.count, name.end <= value.start else { return }
            if value.start == name.end + 2, bytes[name.end + 1] == Byte.space {
                // The common form, in which name and value are one piece.
                buffer.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[name.start..<value.end]))
            } else {
                buffer.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[name.start..<name.end]))
                buffer.writeStaticString(": ")
                buffer.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[value.start..<value.end]))
            }
        }
        endLine(to: &buffer)
    }

    /// Writes the `Date` field.
    package static func date(_ secondsSince1970: Int64, to buffer: inout ByteBuffer) {
        startField("date", to: &buffer)
        HTTPDate.write(secondsSince1970, to: &buffer)
        endLine(to: &buffer)
    }

    /// Writes the empty line after the last field.
    package static func endOfHead(to buffer: inout ByteBuffer) { endLine(to: &buffer) }

    /// Writes the size line of a chunk. `length` must be positive, because a chunk of size 0 ends the body; otherwise
    /// nothing is written.
    package static func chunkHeader(length: Int, to buffer: inout ByteBuffer) {
        guard length > 0 else { return }
        var shift = (Int.bitWidth - 1 - length.leadingZeroBitCount) / 4 * 4
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: length >> shift) & 0x0F
            buffer.writeInteger(digit < 10 ? Byte.zero + digit : 0x61 + digit - 10)
            shift -= 4
        }
        endLine(to: &buffer)
    }

    /// Writes the line end after the data of a chunk.
    package static func chunkEnd(to buffer: inout ByteBuffer) { endLine(to: &buffer) }

    /// Writes the last chunk, which ends a body, without trailers.
    package static func lastChunk(to buffer: inout ByteBuffer) { buffer.writeStaticString("0\r\n\r\n") }

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
