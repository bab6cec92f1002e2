import NIOCore

/// The query of a request target as `name=value` pairs separated by ampersands.
///
/// A plus sign is not decoded to a space, as the query is searched for tokens and not for form fields. Names and values
/// are decoded once. A name with a broken escape matches no name.
public struct RequestQuery: Sendable {
    /// The largest number of pairs. A longer query is refused with ``WireError/Code/tooManyParameters``.
    public static let maxPairs = 1024

    private let bytes: ByteBuffer

    /// A query of the bytes after the question mark.
    public init(_ bytes: ByteBuffer) { self.bytes = bytes }

    /// The query of a request; nil if it has none.
    public init?(_ head: RequestHead) {
        guard let query = head.query else { return nil }
        self.bytes = head.slice(query)
    }

    /// The decoded values of all pairs named `name`.
    ///
    /// - Throws: ``WireError/Code/query`` for a value with a broken escape, ``WireError/Code/tooManyParameters``.
    public func values(of name: StaticString) throws(WireError) -> [[UInt8]] {
        try self.bytes.withUnsafeReadableBytes { (bytes) throws(WireError) -> [[UInt8]] in
            var values: [[UInt8]] = []
            var pairs = PairList(count: bytes.count)
            while let pair = try pairs.next(in: bytes) {
                guard Self.isNamed(bytes, pair.name, name) else { continue }
                guard let value = Self.decoded(bytes, pair.value) else {
                    throw WireError(.query, "a broken escape in a value")
                }
                values.append(value)
            }
            return values
        }
    }

    /// Whether there is a pair with one of `names`.
    ///
    /// - Throws: ``WireError/Code/tooManyParameters`` if the limit is reached before such a pair is found.
    public func contains(anyOf names: [StaticString]) throws(WireError) -> Bool {
        try self.bytes.withUnsafeReadableBytes { (bytes) throws(WireError) -> Bool in
            var pairs = PairList(count: bytes.count)
            while let pair = try pairs.next(in: bytes) {
                for name in names where Self.isNamed(bytes, pair.name, name) { return true }
            }
            return false
        }
    }

    /// The query without the pairs that have one of `names`; all other bytes are unchanged. Nil if no pair is left.
    ///
    /// A removed pair takes one ampersand with it, so the order and spelling of the others do not change.
    ///
    /// - Throws: ``WireError/Code/tooManyParameters``.
    public func removing(_ names: [StaticString]) throws(WireError) -> ByteBuffer? {
        guard try contains(anyOf: names) else { return self.bytes }
        return try self.bytes.withUnsafeReadableBytes { (bytes) throws(WireError) -> ByteBuffer? in
            var rest = ByteBuffer()
            rest.reserveCapacity(bytes.count)
            var isEmpty = true
            var pairs = PairList(count: bytes.count)
            while let pair = try pairs.next(in: bytes) {
                var isRemoved = false
                for name in names where Self.isNamed(bytes, pair.name, name) { isRemoved = true }
                guard !isRemoved else { continue }
                if !isEmpty { rest.writeInteger(Byte.ampersand) }
                isEmpty = false
                rest.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[pair.whole.start..<pair.whole.end]))
            }
            return isEmpty ? nil : rest
        }
    }

    /// Whether the decoded bytes of `range` are exactly `name`.
    private static func isNamed(_ bytes: UnsafeRawBufferPointer, _ range: ByteRange, _ name: StaticString) -> Bool {
        guard name.hasPointerRepresentation, range.count >= name.utf8CodeUnitCount else { return false }
        var position = range.start
        for index in 0..<name.utf8CodeUnitCount {
            guard let byte = decodedByte(bytes, range, &position), byte == name.utf8Start[index] else { return false }
        }
        return position == range.end
    }

    private static func decoded(_ bytes: UnsafeRawBufferPointer, _ range: ByteRange) -> [UInt8]? {
        var value: [UInt8] = []
        value.reserveCapacity(range.count)
        var position = range.start
        while position < range.end {
            guard let byte = decodedByte(bytes, range, &position) else { return nil }
            value.append(byte)
        }
        return value
    }

    /// Reads the byte at `position`, raw or escaped, and moves the position behind it. Nil at the end and at a broken
    /// escape.
    private static func decodedByte(
        _ bytes: UnsafeRawBufferPointer, _ range: ByteRange, _ position: inout Int
    ) -> UInt8? {
        guard position < range.end else { return nil }
        let byte = bytes[position]
        guard byte == Byte.percent else {
            position += 1
            return byte
        }
        guard position + 2 < range.end, let high = bytes[position + 1].hexValue,
            let low = bytes[position + 2].hexValue
        else { return nil }
        position += 3
        return high << 4 | low
    }
}

/// Iterates over the pairs of a query. Nothing between two ampersands is a pair with an empty name.
private struct PairList {
    struct Pair {
        var whole: ByteRange
        var name: ByteRange
        var value: ByteRange
    }

    private var position = 0
    private var pairs = 0
    private var isDone: Bool

    init(count: Int) { self.isDone = count == 0 }

    mutating func next(in bytes: UnsafeRawBufferPointer) throws(WireError) -> Pair? {
        guard !isDone else { return nil }
        pairs += 1
        guard pairs <= RequestQuery.maxPairs else {
            throw WireError(.tooManyParameters, "too many query parameters")
        }
        let start = position
        var equals: Int?
        while position < bytes.count, bytes[position] != Byte.ampersand {
            if equals == nil, bytes[position] == Byte.equals { equals = position }
            position += 1
        }
        let end = position
        isDone = end == bytes.count
        position += 1
        return Pair(
            whole: ByteRange(start: start, end: end),
            name: ByteRange(start: start, end: equals ?? end),
            value: ByteRange(start: equals.map { $0 + 1 } ?? end, end: end))
    }
}
