/// Parses `method SP request-target SP HTTP-version CRLF` (RFC 9112 section 3) incrementally.
struct RequestLineScanner: Sendable {
    private enum State: UInt8, Sendable {
        case method
        case target
        case version
        case lineFeed
    }

    /// The longest method in bytes; the longest registered one has 17 (`UPDATEREDIRECTREF`).
    static let maxMethod = 32

    private let maxTarget: Int
    private var state = State.method
    /// Whether the target has come to its question mark, as far as that had to be known.
    private var isInQuery = false
    private var versionStart = 0
    private var major: UInt8 = 0
    /// The range of the method; empty until it has been read.
    private(set) var method = ByteRange(start: 0, end: 0)
    /// The range of the request target; empty until it has been read.
    private(set) var target = ByteRange(start: 0, end: 0)
    /// The digit after the dot of the version, 0 or 1 once ``scan(_:_:)`` has returned true.
    private(set) var versionMinor: UInt8 = 0

    /// A scanner at the first byte of a request line, for targets of at most `maxTarget` bytes.
    init(maxTarget: Int) { self.maxTarget = maxTarget }

    /// Whether the target has begun and not ended.
    var isInTarget: Bool { state == .target }

    /// Continues at `position`. True when the line has been read.
    ///
    /// - Parameters:
    ///   - bytes: the head from its first byte on; the method begins at offset 0.
    ///   - position: the offset of the next byte to be read, which is moved.
    /// - Throws: ``WireError/Code/method``, ``WireError/Code/target``, ``WireError/Code/targetTooLong``,
    ///   ``WireError/Code/version``, ``WireError/Code/unsupportedVersion`` or ``WireError/Code/lineEnding``, at the
    ///   first byte that breaks the rule; an unsupported version at the end of the line.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws(WireError) -> Bool {
        while position < bytes.count {
            switch state {
            case .method: try scanMethod(bytes, &position)
            case .target: try scanTarget(bytes, &position)
            case .version: try scanVersion(bytes[position], &position)
            case .lineFeed:
                guard bytes[position] == Byte.lineFeed else { throw WireError(.lineEnding, "bare CR") }
                guard major == 1, versionMinor <= 1 else {
                    throw WireError(.unsupportedVersion, "neither HTTP/1.0 nor HTTP/1.1")
                }
                position += 1
                return true
            }
        }
        return false
    }

    private mutating func scanMethod(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws(WireError) {
        while position < bytes.count, ByteClass.method.contains(bytes[position]) { position &+= 1 }
        guard position <= Self.maxMethod else { throw WireError(.method, "method too long") }
        guard position < bytes.count else { return }
        guard bytes[position] == Byte.space, position > 0 else {
            throw WireError(.method, "a byte in the method that no method has")
        }
        method = ByteRange(start: 0, end: position)
        position += 1
        target = ByteRange(start: position, end: position)
        state = .target
    }

    private mutating func scanTarget(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws(WireError) {
        while position < bytes.count {
            let byte = bytes[position]
            if !ByteClass.target.contains(byte) {
                guard ByteClass.rawQuery.contains(byte), hasQuery(bytes, until: position) else { break }
            }
            position &+= 1
        }
        guard position - target.start <= maxTarget else {
            throw WireError(.targetTooLong, "request target too long")
        }
        guard position < bytes.count else { return }
        guard bytes[position] == Byte.space, position > target.start else {
            throw WireError(.target, "a byte in the request target that no URI has")
        }
        target = ByteRange(start: target.start, end: position)
        position += 1
        versionStart = position
        state = .version
    }

    /// Looked for only where a byte is allowed in a query alone, and once at most: a target without a query ends there.
    private mutating func hasQuery(_ bytes: UnsafeRawBufferPointer, until position: Int) -> Bool {
        if !isInQuery {
            let read = ByteRange(start: target.start, end: position)
            isInQuery = ByteScan.firstIndex(of: Byte.questionMark, bytes, read) != nil
        }
        return isInQuery
    }

    /// Whether `target` has only bytes that ``scan(_:_:)`` accepts.
    static func accepts(target: String) -> Bool {
        var isInQuery = false
        return target.utf8.allSatisfy { byte in
            isInQuery = isInQuery || byte == Byte.questionMark
            return ByteClass.target.contains(byte) || (isInQuery && ByteClass.rawQuery.contains(byte))
        }
    }

    private mutating func scanVersion(_ byte: UInt8, _ position: inout Int) throws(WireError) {
        guard HTTPVersionText.accepts(byte, at: position - versionStart) else {
            throw WireError(.version, "malformed HTTP version")
        }
        switch position - versionStart {
        case 5: major = byte - Byte.zero
        case 7: versionMinor = byte - Byte.zero
        case 8: state = .lineFeed
        default: break
        }
        position += 1
    }
}

/// The grammar of `HTTP/d.d` for one byte at a time, with the carriage return after it in a request line.
enum HTTPVersionText {
    /// Whether `byte` may stand at `index`, 0 to 8, of the version. Letters are upper case (RFC 9112 section 2.3).
    static func accepts(_ byte: UInt8, at index: Int) -> Bool {
        switch index {
        case 0: byte == 0x48
        case 1, 2: byte == 0x54
        case 3: byte == 0x50
        case 4: byte == Byte.slash
        case 5, 7: byte.isDigit
        case 6: byte == Byte.dot
        case 8: byte == Byte.carriageReturn
        default: false
        }
    }
}
