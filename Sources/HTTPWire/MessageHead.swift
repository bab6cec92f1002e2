import NIOCore

/// The common part of request and response heads: their bytes, and a table of the fields in them.
///
/// The bytes are a slice that shares storage with the buffer they were read from, so parsing copies nothing. While a
/// head is kept, writing to that buffer copies it.
public protocol MessageHead: Sendable {
    /// The bytes of the head, including the final empty line.
    var bytes: ByteBuffer { get }
    /// The field lines in the order of the head.
    var fields: [HeaderField] { get }
    /// The known fields among them.
    var present: KnownFieldSet { get }
}

extension MessageHead {
    /// Calls `body` with the bytes of `range`. A range that goes beyond this head gives no bytes.
    @inlinable
    public func withBytes<Result>(_ range: ByteRange, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeReadableBytes { all in
            guard range.end <= all.count else { return body(UnsafeRawBufferPointer(rebasing: all[0..<0])) }
            return body(UnsafeRawBufferPointer(rebasing: all[range.start..<range.end]))
        }
    }

    /// The bytes of `range` as text. Invalid UTF-8 is replaced, so comparisons should use ``equals(_:_:)``.
    public func string(_ range: ByteRange) -> String {
        withBytes(range) { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of `range` as a slice that shares the head's storage.
    @inlinable
    public func slice(_ range: ByteRange) -> ByteBuffer {
        bytes.getSlice(at: bytes.readerIndex + range.start, length: range.count) ?? ByteBuffer()
    }

    /// Whether the bytes of `range` are `lowercaseASCII` in any case.
    public func equals(_ range: ByteRange, _ lowercaseASCII: StaticString) -> Bool {
        withBytes(range) { bytes in
            ByteScan.equals(bytes, ByteRange(start: 0, end: bytes.count), lowercaseASCII)
        }
    }

    /// Whether the bytes of two ranges are the same, ignoring the case of letters.
    public func equals(_ first: ByteRange, _ second: ByteRange) -> Bool {
        withBytes(first) { left in
            withBytes(second) { right in
                left.count == right.count
                    && zip(left, right).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
            }
        }
    }

    /// Whether the bytes of `range` begin with `lowercaseASCII` in any case.
    public func hasPrefix(_ range: ByteRange, _ lowercaseASCII: StaticString) -> Bool {
        withBytes(range) { bytes in
            ByteScan.hasPrefix(bytes, ByteRange(start: 0, end: bytes.count), lowercaseASCII)
        }
    }

    /// The first field line of this field, or nil.
    @inlinable
    public func first(_ id: KnownField) -> HeaderField? {
        guard present.contains(id) else { return nil }
        for field in fields where field.id == id { return field }
        return nil
    }

    /// The number of field lines of this field.
    @inlinable
    public func count(_ id: KnownField) -> Int {
        guard present.contains(id) else { return 0 }
        var count = 0
        for field in fields where field.id == id { count += 1 }
        return count
    }

    /// The field line of this field if there is exactly one.
    @inlinable
    public func only(_ id: KnownField) -> HeaderField? {
        count(id) == 1 ? first(id) : nil
    }

    /// Whether the name of `field` is one of `names`, ignoring case. Used for fields that `Connection` lists (RFC 9110
    /// section 7.6.1).
    public func isNominated(_ field: HeaderField, by names: [ByteRange]) -> Bool {
        guard !names.isEmpty else { return false }
        return self.bytes.withUnsafeReadableBytes { bytes in
            guard field.name.end <= bytes.count else { return false }
            for name in names where name.end <= bytes.count && ByteScan.equals(bytes, name, field.name) { return true }
            return false
        }
    }
}
