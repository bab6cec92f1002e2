import NIOCore

/// Writes the pieces of a head or of a line one after the other into memory that was reserved for all of them.
///
/// A `ByteBuffer` asks for every piece whether the memory is its own and has room. A head for an upstream has some
/// forty pieces, a line of the access log even more, most of a few bytes.
public struct BytePen {
    @usableFromInline let room: UnsafeMutableRawBufferPointer
    @usableFromInline var count = 0
    @usableFromInline var isFull = false

    init(_ room: UnsafeMutableRawBufferPointer) { self.room = room }

    /// A buffer with what `body` writes; see ``append(to:expecting:_:)``.
    public static func written(expecting size: Int, _ body: (inout BytePen) -> Void) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: max(size, 64))
        append(to: &buffer, expecting: size, body)
        return buffer
    }

    /// Appends what `body` writes to a buffer.
    ///
    /// - Parameters:
    ///   - size: how many bytes are expected. Where there are more, `body` is called again with twice the room.
    ///   - body: writes the same whenever it is called.
    public static func append(to buffer: inout ByteBuffer, expecting size: Int, _ body: (inout BytePen) -> Void) {
        var size = max(size, 64)
        while true {
            var isFull = false
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { room in
                var pen = BytePen(room)
                body(&pen)
                isFull = pen.isFull
                return pen.isFull ? 0 : pen.count
            }
            guard isFull else { return }
            size *= 2
        }
    }

    /// The next bytes, all of which the caller has to write at once. Where they do not fit, nothing more is written,
    /// and the whole is begun again with more room.
    ///
    /// - Parameter size: how many; 0 or more.
    @inlinable
    public mutating func take(_ size: Int) -> UnsafeMutableRawBufferPointer? {
        guard !isFull, size <= room.count - count else {
            isFull = true
            return nil
        }
        defer { count += size }
        return UnsafeMutableRawBufferPointer(rebasing: room[count..<count + size])
    }

    /// Writes bytes.
    @inlinable
    public mutating func write(_ bytes: UnsafeRawBufferPointer) { take(bytes.count)?.copyMemory(from: bytes) }

    /// Writes a literal.
    @inlinable
    public mutating func write(literal text: StaticString) {
        write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Writes a text as UTF-8.
    @inlinable
    public mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    /// Writes bytes.
    @inlinable
    public mutating func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { write($0) } }

    /// Writes bytes.
    @inlinable
    public mutating func write(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBytes { write($0) } }

    /// Writes the readable bytes of a buffer.
    @inlinable
    public mutating func write(_ buffer: ByteBuffer) { buffer.withUnsafeReadableBytes { write($0) } }

    /// Copies a part of a head.
    @inlinable
    public mutating func write(_ range: ByteRange, of head: RequestHead) { head.withBytes(range) { write($0) } }

    /// Writes one byte.
    @inlinable
    public mutating func write(byte: UInt8) {
        guard !isFull, count < room.count else {
            isFull = true
            return
        }
        room[count] = byte
        count += 1
    }

    /// Writes eight bytes, that of the highest value first.
    @inlinable
    public mutating func write(word: UInt64) {
        withUnsafeBytes(of: word.bigEndian) { write($0) }
    }

    /// Writes a whole number, with zeros in front where it has fewer digits than `width`.
    public mutating func write(decimal number: Int64, width: Int = 1) {
        if number < 0 { write(byte: UInt8(ascii: "-")) }
        var rest = number.magnitude
        // Nineteen digits at most, the last one first.
        var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
        withUnsafeMutableBytes(of: &digits) { digits in
            var place = digits.count
            repeat {
                place -= 1
                digits[place] = UInt8(truncatingIfNeeded: rest % 10) + UInt8(ascii: "0")
                rest /= 10
            } while (rest > 0 || digits.count - place < width) && place > 0
            write(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(digits)[place...]))
        }
    }
}
