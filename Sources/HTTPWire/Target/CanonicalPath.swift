import NIOCore

/// The canonical form of a request path, which is used for matching, for authorisation and for forwarding.
///
/// A byte that RFC 3986 allows in a segment (`pchar`) is written as it is, and every other byte is escaped with
/// upper-case digits, however it was sent: `/pro%40x` becomes `/pro@x`, and `/[a]` becomes `/%5Ba%5D`. The only
/// exception is an escaped semicolon, which stays escaped, because some servers would take a raw one for the beginning
/// of a parameter.
///
/// A path that two servers might read differently is refused: dot segments and empty segments in any encoding, escaped
/// slashes and backslashes, control bytes, broken escapes, bytes that are not UTF-8, and escaped escapes of any of
/// these.
public struct CanonicalPath: Sendable, Equatable {
    /// The path, which begins with a slash. If nothing had to be changed, it is a slice of the head.
    public let bytes: ByteBuffer
    /// Whether it contains an escaped slash, which only routes that allow it accept.
    public let hasEncodedSlash: Bool
    /// Whether it contains a semicolon, raw or escaped: some servers cut off a segment there.
    public let hasParameters: Bool
    /// Whether it contains an escape of an escape, such as `%2561`, which a server that decodes twice reads as a letter.
    public let hasEscapedEscape: Bool

    /// The canonical path of a request. An absolute form without a path means `/`.
    ///
    /// - Parameter allowEncodedSlash: whether `%2F` is accepted and kept escaped, which ``hasEncodedSlash`` then tells.
    ///   The edge sets it and decides afterwards by the route.
    /// - Throws: ``WireError/Code/path``.
    public init(_ head: RequestHead, allowEncodedSlash: Bool = false) throws(WireError) {
        guard head.targetForm == .origin || head.targetForm == .absolute else {
            throw WireError(.path, "a target without a path")
        }
        try self.init(head.slice(head.path), allowEncodedSlash: allowEncodedSlash)
    }

    /// The canonical form of a path in bytes. An empty path means `/`.
    ///
    /// - Throws: ``WireError/Code/path``.
    public init(_ path: ByteBuffer, allowEncodedSlash: Bool = false) throws(WireError) {
        guard path.readableBytes > 0 else {
            self.bytes = Self.root
            self.hasEncodedSlash = false
            self.hasParameters = false
            self.hasEscapedEscape = false
            return
        }
        let isPlain = path.withUnsafeReadableBytes(Self.isPlain)
        if isPlain {
            self.bytes = path
            self.hasEncodedSlash = false
            self.hasParameters = path.readableBytesView.contains(Byte.semicolon)
            self.hasEscapedEscape = false
            return
        }
        var builder = PathBuilder(allowEncodedSlash: allowEncodedSlash)
        try path.withUnsafeReadableBytes { (bytes) throws(WireError) in try builder.read(bytes) }
        self.bytes = ByteBuffer(bytes: builder.output)
        self.hasEncodedSlash = builder.hasEncodedSlash
        self.hasParameters = builder.hasParameters
        self.hasEscapedEscape = builder.hasEscapedEscape
    }

    /// The path as text.
    public var string: String { String(buffer: bytes) }

    private static let root = ByteBuffer(string: "/")

    /// Whether the path is certainly canonical: only plain bytes, and no segment that is empty or begins with a dot.
    private static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.first == Byte.slash else { return false }
        var previous = Byte.asterisk
        for byte in bytes {
            if byte == Byte.slash || byte == Byte.dot {
                guard previous != Byte.slash else { return false }
            } else if !ByteClass.pathPlain.contains(byte) {
                return false
            }
            previous = byte
        }
        return true
    }
}

/// Rewrites a path byte by byte, and checks each segment when it ends.
private struct PathBuilder {
    let allowEncodedSlash: Bool
    private(set) var output: [UInt8] = []
    private(set) var hasEncodedSlash = false
    private(set) var hasParameters = false
    private(set) var hasEscapedEscape = false
    /// The start of the segment in `output`. An escaped slash begins a segment too.
    private var segmentStart = 0
    private var utf8 = UTF8Scanner()

    init(allowEncodedSlash: Bool) { self.allowEncodedSlash = allowEncodedSlash }

    mutating func read(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        guard bytes.first == Byte.slash else { throw WireError(.path, "a path that does not begin with a slash") }
        output.reserveCapacity(bytes.count + 16)
        output.append(Byte.slash)
        segmentStart = 1
        var position = 1
        while position < bytes.count {
            let byte = bytes[position]
            if byte == Byte.percent {
                try readEscape(bytes, position)
                position += 3
                continue
            }
            try readRaw(byte)
            position += 1
        }
        try endSegment(isLast: true)
        guard utf8.isAtBoundary else { throw Self.notUTF8 }
        try refuseNestedEscapes()
    }

    private mutating func readRaw(_ byte: UInt8) throws(WireError) {
        guard utf8.take(byte) else { throw Self.notUTF8 }
        switch byte {
        case Byte.slash:
            try endSegment(isLast: false)
            output.append(byte)
            segmentStart = output.count
        case Byte.openBracket, Byte.closeBracket: appendEscape(of: byte)
        case Byte.dot: output.append(byte)
        default:
            guard ByteClass.pathPlain.contains(byte) else { throw WireError(.path, "a byte that no path has") }
            if byte == Byte.semicolon { hasParameters = true }
            output.append(byte)
        }
    }

    private mutating func readEscape(_ bytes: UnsafeRawBufferPointer, _ position: Int) throws(WireError) {
        guard let byte = Self.escaped(bytes, position) else { throw WireError(.path, "a broken escape") }
        guard utf8.take(byte) else { throw Self.notUTF8 }
        switch byte {
        case 0..<Byte.space, Byte.delete: throw WireError(.path, "an escaped control byte")
        case Byte.backslash: throw WireError(.path, "an escaped backslash")
        case Byte.slash:
            guard allowEncodedSlash else { throw WireError(.path, "an escaped slash") }
            try refuseDots()
            hasEncodedSlash = true
            appendEscape(of: byte)
            segmentStart = output.count
        case Byte.semicolon:
            hasParameters = true
            appendEscape(of: byte)
        case _ where byte == Byte.dot || ByteClass.pathPlain.contains(byte): output.append(byte)
        default: appendEscape(of: byte)
        }
    }

    private mutating func endSegment(isLast: Bool) throws(WireError) {
        guard isLast || output.count > segmentStart else {
            throw WireError(.path, "an empty segment")
        }
        try refuseDots()
    }

    /// Refuses `.` and `..`, alone and before a parameter, whether its semicolon is escaped or not.
    private func refuseDots() throws(WireError) {
        var position = segmentStart
        while position < output.count, output[position] == Byte.dot { position += 1 }
        guard (1...2).contains(position - segmentStart) else { return }
        let rest = output[position...]
        if rest.isEmpty || rest.first == Byte.semicolon || rest.starts(with: [Byte.percent, 0x33, 0x42]) {
            throw WireError(.path, "a dot segment")
        }
    }

    /// Refuses escaped escapes such as `%252e`, which an upstream that decodes twice would read as `.`, and notes those
    /// of other bytes.
    ///
    /// The check is made on the output, because `%25%32e` becomes `%252e` only there.
    private mutating func refuseNestedEscapes() throws(WireError) {
        for position in output.indices.dropLast(4)
        where output[position...].starts(with: [Byte.percent, 0x32, 0x35]) {
            guard let high = output[position + 3].hexValue, let low = output[position + 4].hexValue else { continue }
            guard !Self.isDangerous(high << 4 | low) else { throw WireError(.path, "an escape of an escape") }
            hasEscapedEscape = true
        }
    }

    private mutating func appendEscape(of byte: UInt8) {
        output.append(Byte.percent)
        for digit in [byte >> 4, byte & 0x0F] {
            output.append(digit < 10 ? Byte.zero + digit : 0x41 + digit - 10)
        }
    }

    /// The byte that the escape at `position` stands for.
    private static func escaped(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> UInt8? {
        guard position + 2 < bytes.count, let high = bytes[position + 1].hexValue,
            let low = bytes[position + 2].hexValue
        else { return nil }
        return high << 4 | low
    }

    private static func isDangerous(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<Byte.space, Byte.delete, Byte.dot, Byte.slash, Byte.backslash, Byte.percent, Byte.semicolon: true
        default: false
        }
    }

    private static var notUTF8: WireError { WireError(.path, "a path that is not UTF-8") }
}
