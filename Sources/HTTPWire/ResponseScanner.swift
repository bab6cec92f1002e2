import NIOCore

/// Parses the response heads of one upstream connection incrementally.
///
/// It is used like ``HeadScanner``. An empty line before a status line is refused.
public struct ResponseScanner: Sendable {
    private let limits: WireLimits
    private var position = 0
    private var hasLine = false
    private var line = StatusLineScanner()
    private var section: FieldScanner
    private var failure: WireError?

    /// A scanner that expects a status line.
    public init(limits: WireLimits = WireLimits()) {
        self.limits = limits
        self.section = FieldScanner(kind: .response, maxFields: limits.maxFields)
    }

    /// Whether a head has begun and is not complete.
    public var isInsideHead: Bool { position > 0 }

    /// Continues with the bytes in `buffer`. A complete head, interim (1xx) or final, is removed from it. A failure is
    /// final.
    ///
    /// - Parameter requestWasHead: whether the response answers a `HEAD` request and so has no body.
    public mutating func feed(_ buffer: inout ByteBuffer, requestWasHead: Bool) -> ParseResult<ResponseHead> {
        if let failure { return .failed(failure) }
        do throws(WireError) {
            guard try scan(buffer) else { return .needMoreData }
            guard let slice = buffer.readSlice(length: position) else { return .needMoreData }
            let head = try ResponseHead(
                slice: slice, line: line, section: section, requestWasHead: requestWasHead)
            self = ResponseScanner(limits: limits)
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
        guard position < limits.maxHead else { throw WireError(.headTooLong, "head too long") }
        return false
    }
}
