import NIOCore

/// What request and response heads have in common: their bytes, and a table of where the fields stand in them.
///
/// The bytes are a slice that shares storage with the buffer it was read from: no copy is made, and as long as a head
/// is kept, writing into that buffer copies it.
package protocol MessageHead: Sendable {
    /// Exactly the bytes of the head, final empty line included.
    var bytes: ByteBuffer { get }
    /// The fields in the order of their arrival.
    var fields: [HeaderField] { get }
    /// Which known fields are among them.
    var present: KnownFieldSet { get }
}

extension MessageHead {
    /// Lends the bytes of `range`; a range of another head lends nothing.
    @inlinable
    package func withBytes<Result>(_ range: ByteRange, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        self.bytes.withUnsafeReadableBytes { all in
            guard range.end <= all.count else { return body(UnsafeRawBufferPointer(rebasing: all[0..<0])) }
            return body(UnsafeRawBufferPointer(rebasing: all[range.start..<range.end]))
        }
    }

    /// The bytes of `range` as text; bytes that are not UTF-8 are replaced, so compare with `equals`.
    package func string(_ range: ByteRange) -> String {
        self.withBytes(range) { String(decoding: $0, as: UTF8.self) }
    }

    /// A slice of the head that shares its storage.
    @inlinable
    package func slice(_ range: ByteRange) -> ByteBuffer {
        self.bytes.getSlice(at: self.bytes.readerIndex + range.start, length: range.count) ?? ByteBuffer()
    }

    /// Whether `range` holds `lowercaseASCII`, letters compared without regard to case.
    package func equals(_ range: ByteRange, _ lowercaseASCII: StaticString) -> Bool {
        self.withBytes(range) { bytes in
            ByteScan.equals(bytes, ByteRange(start: 0, end: bytes.count), lowercaseASCII)
        }
    }

    /// The first field of the kind.
    @inlinable
    package func first(_ id: KnownField) -> HeaderField? {
        guard self.present.contains(id) else { return nil }
        for field in self.fields where field.id == id { return field }
        return nil
    }

    /// How many fields of the kind there are.
    @inlinable
    package func count(_ id: KnownField) -> Int {
        guard self.present.contains(id) else { return 0 }
        var count = 0
        for field in self.fields where field.id == id { count += 1 }
        return count
    }

    /// The field of the kind if there is exactly one.
    @inlinable
    package func only(_ id: KnownField) -> HeaderField? {
        self.count(id) == 1 ? self.first(id) : nil
    }

    /// Whether one of `names` is, without regard to case, the name of `field`: for fields nominated by `Connection`.
    package func isNominated(_ field: HeaderField, by names: [ByteRange]) -> Bool {
        guard !names.isEmpty else { return false }
        return self.bytes.withUnsafeReadableBytes { bytes in
            guard field.name.end <= bytes.count else { return false }
            for name in names where name.end <= bytes.count && ByteScan.equals(bytes, name, field.name) { return true }
            return false
        }
    }
}
