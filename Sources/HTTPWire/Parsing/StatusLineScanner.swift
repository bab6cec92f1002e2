/// Parses `HTTP-version SP status [SP reason] CRLF` (RFC 9112 section 4) incrementally.
struct StatusLineScanner: Sendable {
    private enum State: UInt8, Sendable {
        case version
        case status
        case afterStatus
        case reason
        case lineFeed
    }

    private var state = State.version
    private var major: UInt8 = 0
    private var digits = 0
    private var reasonStart = 0
    /// 0 for HTTP/1.0, 1 for HTTP/1.1.
    private(set) var versionMinor: UInt8 = 0
    /// The status; 100 to 599 once ``scan(_:_:)`` has returned true.
    private(set) var status = 0
    /// The range of the reason phrase, which may be empty.
    private(set) var reason = ByteRange(start: 0, end: 0)

    /// Continues at `position`. True when the line has been read.
    ///
    /// - Throws: ``WireError/Code/startLine``, ``WireError/Code/unsupportedVersion``, ``WireError/Code/status`` or
    ///   ``WireError/Code/lineEnding``. A bare LF is ``WireError/Code/startLine``.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws(WireError) -> Bool {
        while position < bytes.count {
            let byte = bytes[position]
            switch state {
            case .version: try scanVersion(byte, at: position)
            case .status: try scanStatus(byte)
            case .afterStatus:
                // RFC 9112 section 4 requires the space, but enough servers omit it that it is optional here.
                guard byte == Byte.space || byte == Byte.carriageReturn else { throw Self.malformed }
                reasonStart = position + 1
                reason = ByteRange(start: position, end: position)
                state = byte == Byte.space ? .reason : .lineFeed
            case .reason:
                position = ByteScan.endOfFieldContent(bytes, position, bytes.count)
                guard position < bytes.count else { return false }
                guard bytes[position] == Byte.carriageReturn else { throw Self.malformed }
                reason = ByteRange(start: reasonStart, end: position)
                state = .lineFeed
            case .lineFeed:
                guard byte == Byte.lineFeed else { throw WireError(.lineEnding, "bare CR") }
                position += 1
                return true
            }
            position += 1
        }
        return false
    }

    private mutating func scanVersion(_ byte: UInt8, at index: Int) throws(WireError) {
        if index == 8 {
            guard byte == Byte.space else { throw Self.malformed }
            state = .status
            return
        }
        guard HTTPVersionText.accepts(byte, at: index) else { throw Self.malformed }
        if index == 5 { major = byte - Byte.zero }
        if index == 7 {
            versionMinor = byte - Byte.zero
            guard major == 1, versionMinor <= 1 else {
                throw WireError(.unsupportedVersion, "neither HTTP/1.0 nor HTTP/1.1")
            }
        }
    }

    private mutating func scanStatus(_ byte: UInt8) throws(WireError) {
        guard byte.isDigit else { throw Self.malformed }
        status = status * 10 + Int(byte - Byte.zero)
        digits += 1
        guard digits == 3 else { return }
        guard (100...599).contains(status) else { throw WireError(.status, "status outside 100 to 599") }
        state = .afterStatus
    }

    private static var malformed: WireError { WireError(.startLine, "malformed status line") }
}
