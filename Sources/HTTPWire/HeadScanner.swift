import NIOCore

/// Parses the request heads of one connection incrementally (RFC 9112 sections 2 to 5).
///
/// Call ``feed(_:)`` with the connection's buffer whenever bytes were added. Until a head is complete, only a leading
/// empty line is removed from the buffer, and the caller must not remove anything either. A byte that breaks the
/// grammar is refused when it arrives, before the head is complete. The work is linear in the number of bytes, however
/// small the packets are.
public struct HeadScanner: Sendable {
    private let limits: WireLimits
    private var position = 0
    private var skippedEmptyLine = false
    private var hasLine = false
    private var line: RequestLineScanner
    private var section: FieldScanner
    private var failure: WireError?

    /// A scanner that expects a request line.
    public init(limits: WireLimits = WireLimits()) {
        self.limits = limits
        self.line = RequestLineScanner(maxTarget: limits.maxTarget)
        self.section = FieldScanner(kind: .request, maxFields: limits.maxFields)
    }

    /// Whether a head has begun and is not complete, so that the deadline for heads applies.
    public var isInsideHead: Bool { position > 0 || skippedEmptyLine }

    /// Continues with the bytes in `buffer`. A complete head is removed from it, and the scanner expects the next
    /// request line. A failure is final.
    public mutating func feed(_ buffer: inout ByteBuffer) -> ParseResult<RequestHead> {
        if let failure { return .failed(failure) }
        do throws(WireError) {
            guard try passEmptyLine(&buffer) else { return .needMoreData }
            guard try scan(buffer) else { return .needMoreData }
            guard let slice = buffer.readSlice(length: position) else { return .needMoreData }
            let head = try slice.withUnsafeReadableBytes { (bytes) throws(WireError) -> RequestHead in
                try RequestHead(bytes, slice: slice, line: line, section: section)
            }
            self = HeadScanner(limits: limits)
            return .head(head)
        } catch {
            self.failure = error
            return .failed(error)
        }
    }

    private mutating func scan(_ buffer: ByteBuffer) throws(WireError) -> Bool {
        try buffer.withUnsafeReadableBytes { (all) throws(WireError) -> Bool in
            let bytes = UnsafeRawBufferPointer(rebasing: all.prefix(limits.maxHead))
            if !hasLine {
                guard try line.scan(bytes, &position) else { return try unfinished() }
                hasLine = true
                section.facts.versionMinor = line.versionMinor
            }
            guard try section.scan(bytes, &position) else { return try unfinished() }
            return true
        }
    }

    private func unfinished() throws(WireError) -> Bool {
        guard position < limits.maxHead else {
            throw line.isInTarget
                ? WireError(.targetTooLong, "request target too long") : WireError(.headTooLong, "head too long")
        }
        return false
    }

    /// Skips at most one empty line before the request line (RFC 9112 section 2.2). True when a request line may begin.
    private mutating func passEmptyLine(_ buffer: inout ByteBuffer) throws(WireError) -> Bool {
        guard position == 0, !hasLine else { return true }
        guard let first = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self) else { return false }
        guard first == Byte.carriageReturn else { return true }
        guard !skippedEmptyLine else { throw WireError(.lineEnding, "more than one empty line") }
        guard let second = buffer.getInteger(at: buffer.readerIndex + 1, as: UInt8.self) else { return false }
        guard second == Byte.lineFeed else { throw WireError(.lineEnding, "bare CR") }
        buffer.moveReaderIndex(forwardBy: 2)
        skippedEmptyLine = true
        return buffer.readableBytes > 0 ? try passEmptyLine(&buffer) : false
    }
}
