import NIOCore

/// Reads what is between the data of chunks: sizes, extensions, line ends and trailers (RFC 9112 section 7.1).
/// Extensions and trailers are dropped.
///
/// A size is one to sixteen hexadecimal digits. An extension is `;name`, `;name=token` or `;name="text"` without
/// whitespace. The total length of extensions and that of trailers is bounded for the whole body, so that a sender
/// cannot keep a connection busy without data. Trailers that would frame or route the message if they were in its head
/// are refused (RFC 9110 section 6.5.1).
struct ChunkScanner: Sendable {
    enum Step {
        /// The line or the trailer that is being read is not complete. The buffer has been read to its end.
        case needMoreData
        /// This many bytes of data follow; at least one.
        case chunk(Int64)
        /// The final empty line has been read; what is left in the buffer belongs to the next message.
        case end
    }

    private enum State: UInt8, Sendable {
        case size
        case sizeLineFeed
        case dataEnd
        case dataLineFeed
        case extensionNameStart
        case extensionName
        case extensionValueStart
        case extensionToken
        case extensionText
        case extensionEscape
        case extensionTextEnd
        case trailerStart
        case trailerName
        case trailerValue
        case trailerLineFeed
        case finalLineFeed
    }

    /// Hexadecimal digits of a chunk size, leading zeros included. A size must also fit in an `Int64`.
    static let maxSizeDigits = 16
    /// Bytes of all extensions of one chunk: those after the first semicolon, with the carriage return.
    static let maxExtension = 256
    /// Bytes of the extensions of all chunks of one body.
    static let maxExtensionsInBody = 16 * 1024
    /// Bytes of all trailer lines of one body, line ends included.
    static let maxTrailer = 8 * 1024
    /// One more than the length of the longest of them, so that a longer name that begins like it is not mistaken for
    /// it.
    private static let longestForbidden = 18

    private var state = State.size
    private var size: Int64 = 0
    private var digits = 0
    private var extensionBytes = 0
    private var extensionBytesInBody = 0
    private var trailerBytes = 0
    /// The name that is being read, in lower case and cut off at `longestForbidden`.
    private var trailerName: [UInt8] = []

    /// Reads until chunk data follows or the body has ended.
    ///
    /// - Parameter buffer: what follows the data of the last chunk; the caller has removed exactly as many bytes of
    ///   data as the last ``Step/chunk(_:)`` said.
    /// - Throws: ``WireError/Code/chunk``, ``WireError/Code/chunkExtension`` or ``WireError/Code/trailer``. The scanner
    ///   cannot be used after that; ``BodyDecoder`` keeps the error and returns it again.
    mutating func scan(_ buffer: inout ByteBuffer) throws(WireError) -> Step {
        var consumed = 0
        let step = try buffer.withUnsafeReadableBytes { (bytes) throws(WireError) -> Step in
            while consumed < bytes.count {
                let byte = bytes[consumed]
                consumed += 1
                if let step = try take(byte) { return step }
            }
            return .needMoreData
        }
        buffer.moveReaderIndex(forwardBy: consumed)
        return step
    }

    private mutating func take(_ byte: UInt8) throws(WireError) -> Step? {
        switch state {
        case .size: try takeSize(byte)
        case .sizeLineFeed:
            try Self.expect(byte, Byte.lineFeed)
            return endSizeLine()
        case .dataEnd:
            try Self.expect(byte, Byte.carriageReturn)
            state = .dataLineFeed
        case .dataLineFeed:
            try Self.expect(byte, Byte.lineFeed)
            state = .size
        case .extensionNameStart, .extensionName, .extensionValueStart, .extensionToken, .extensionText,
            .extensionEscape, .extensionTextEnd:
            try takeExtension(byte)
        case .trailerStart, .trailerName, .trailerValue, .trailerLineFeed:
            try takeTrailer(byte)
        case .finalLineFeed:
            try Self.expect(byte, Byte.lineFeed)
            return .end
        }
        return nil
    }

    private mutating func takeSize(_ byte: UInt8) throws(WireError) {
        if let value = byte.hexValue {
            digits += 1
            let (shifted, overflow) = size.multipliedReportingOverflow(by: 16)
            guard digits <= Self.maxSizeDigits, !overflow else {
                throw WireError(.chunk, "chunk size too large")
            }
            size = shifted + Int64(value)
            return
        }
        guard digits > 0 else { throw WireError(.chunk, "chunk without a size") }
        switch byte {
        case Byte.carriageReturn: state = .sizeLineFeed
        case Byte.semicolon: state = .extensionNameStart
        default: throw WireError(.chunk, "chunk size is not hexadecimal")
        }
    }

    private mutating func endSizeLine() -> Step? {
        let size = size
        self.size = 0
        digits = 0
        extensionBytes = 0
        state = size == 0 ? .trailerStart : .dataEnd
        return size == 0 ? nil : .chunk(size)
    }

    private mutating func takeExtension(_ byte: UInt8) throws(WireError) {
        extensionBytes += 1
        extensionBytesInBody += 1
        guard extensionBytes <= Self.maxExtension, extensionBytesInBody <= Self.maxExtensionsInBody else {
            throw WireError(.chunkExtension, "chunk extensions too long")
        }
        switch (state, byte) {
        case (.extensionName, Byte.equals): state = .extensionValueStart
        case (.extensionValueStart, Byte.quote): state = .extensionText
        case (.extensionText, Byte.quote): state = .extensionTextEnd
        case (.extensionText, Byte.backslash): state = .extensionEscape
        case (.extensionName, Byte.semicolon), (.extensionToken, Byte.semicolon), (.extensionTextEnd, Byte.semicolon):
            state = .extensionNameStart
        case (.extensionName, Byte.carriageReturn), (.extensionToken, Byte.carriageReturn),
            (.extensionTextEnd, Byte.carriageReturn):
            state = .sizeLineFeed
        case (.extensionText, _), (.extensionEscape, _):
            guard byte.isFieldContent, byte < 0x80 else { throw Self.badExtension }
            state = .extensionText
        case (.extensionTextEnd, _): throw Self.badExtension
        default:
            guard ByteClass.token.contains(byte) else { throw Self.badExtension }
            if state == .extensionNameStart { state = .extensionName }
            if state == .extensionValueStart { state = .extensionToken }
        }
    }

    private mutating func takeTrailer(_ byte: UInt8) throws(WireError) {
        trailerBytes += 1
        guard trailerBytes <= Self.maxTrailer else { throw WireError(.trailer, "trailers too long") }
        switch state {
        case .trailerStart where byte == Byte.carriageReturn: state = .finalLineFeed
        case .trailerName where byte == Byte.colon:
            for name in ForbiddenTrailer.names where name.utf8.elementsEqual(trailerName) {
                throw ForbiddenTrailer.error
            }
            trailerName.removeAll(keepingCapacity: true)
            state = .trailerValue
        case .trailerStart, .trailerName:
            guard ByteClass.token.contains(byte) else { throw WireError(.trailer, "malformed trailer name") }
            if trailerName.count < Self.longestForbidden { trailerName.append(byte.asciiLowercased) }
            state = .trailerName
        case .trailerValue where byte == Byte.carriageReturn: state = .trailerLineFeed
        case .trailerValue:
            guard byte.isFieldContent else { throw WireError(.trailer, "a control byte in a trailer") }
        default:
            guard byte == Byte.lineFeed else { throw WireError(.trailer, "bare CR in a trailer") }
            state = .trailerStart
        }
    }

    private static func expect(_ byte: UInt8, _ wanted: UInt8) throws(WireError) {
        guard byte == wanted else { throw WireError(.chunk, "a chunk does not end where its size says") }
    }

    private static var badExtension: WireError { WireError(.chunkExtension, "malformed chunk extension") }
}
