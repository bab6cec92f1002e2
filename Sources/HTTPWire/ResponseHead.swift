import NIOCore

/// A response head that passed all checks of this module.
public struct ResponseHead: MessageHead {
    /// The bytes of the head, including the final empty line.
    public let bytes: ByteBuffer
    /// The field lines in the order of the head.
    public let fields: [HeaderField]
    /// The known fields among them.
    public let present: KnownFieldSet
    /// The status, 100 to 599.
    public let status: Int
    /// The reason phrase as sent; it may be empty.
    public let reason: ByteRange
    /// 0 for HTTP/1.0, 1 for HTTP/1.1.
    public let versionMinor: UInt8
    /// How the body ends.
    public let framing: BodyFraming
    /// The value of `Content-Length`, also where no body follows (`HEAD`, 304).
    public let contentLength: Int64?
    /// Whether the connection can be used again. False for HTTP/1.0 and for bodies that last until the connection
    /// closes.
    public let keepAlive: Bool
    /// Whether `Connection` lists `upgrade`.
    public let connectionSaysUpgrade: Bool
    /// The names listed by `Connection`, without `close`, `keep-alive` and `upgrade`.
    public let connectionNominated: [ByteRange]

    init(
        slice: ByteBuffer, line: StatusLineScanner, section: FieldScanner, requestWasHead: Bool
    ) throws(WireError) {
        let facts = section.facts
        self.bytes = slice
        self.fields = section.fields
        self.present = section.present
        self.status = line.status
        self.reason = line.reason
        self.versionMinor = line.versionMinor
        self.contentLength = facts.contentLength
        self.framing = try Self.framing(status: line.status, facts: facts, requestWasHead: requestWasHead)
        self.keepAlive = facts.keepsAlive && self.framing != .untilClose
        self.connectionSaysUpgrade = facts.saysUpgrade
        self.connectionNominated = facts.nominated
    }

    /// The framing by the rules of RFC 9112 section 6.3, in their order.
    private static func framing(
        status: Int, facts: MessageFacts, requestWasHead: Bool
    ) throws(WireError) -> BodyFraming {
        guard status >= 200 || (facts.versionMinor == 1 && !facts.saysClose) else {
            throw WireError(.status, "an interim answer that ends the connection, or in HTTP/1.0")
        }
        if status < 200 || status == 204 {
            guard !facts.isChunked else {
                throw WireError(.transferEncoding, "Transfer-Encoding in an answer that has no body")
            }
            return .none
        }
        if requestWasHead || status == 304 { return .none }
        if facts.isChunked { return .chunked }
        return facts.contentLength.map(BodyFraming.length) ?? .untilClose
    }

    /// Parses a head that is completely in `buffer`. For input that arrives in pieces, keep a ``ResponseScanner``.
    public static func parse(
        _ buffer: inout ByteBuffer, requestWasHead: Bool = false, limits: WireLimits = WireLimits()
    ) -> ParseResult<ResponseHead> {
        var scanner = ResponseScanner(limits: limits)
        return scanner.feed(&buffer, requestWasHead: requestWasHead)
    }
}
