import NIOCore

/// The methods that the edge distinguishes. Every other token is `other`.
public enum RequestMethod: UInt8, Sendable {
    case get, head, post, put, delete, patch, options, connect, trace, other

    init(_ bytes: UnsafeRawBufferPointer, _ range: ByteRange) {
        // A method with lower-case letters has been refused, so ignoring case makes no difference.
        func named(_ name: StaticString) -> Bool { ByteScan.equals(bytes, range, name) }
        switch range.count {
        case 3: self = named("get") ? .get : named("put") ? .put : .other
        case 4: self = named("post") ? .post : named("head") ? .head : .other
        case 5: self = named("patch") ? .patch : named("trace") ? .trace : .other
        case 6: self = named("delete") ? .delete : .other
        case 7: self = named("options") ? .options : named("connect") ? .connect : .other
        default: self = .other
        }
    }
}

/// A request head that passed all checks of this module.
public struct RequestHead: MessageHead {
    /// The bytes of the head, including the final empty line.
    public let bytes: ByteBuffer
    /// The field lines in the order of the head.
    public let fields: [HeaderField]
    /// The known fields among them.
    public let present: KnownFieldSet
    /// The method as sent.
    public let method: ByteRange
    /// The method as one of the distinguished ones.
    public let knownMethod: RequestMethod
    /// The request target as sent.
    public let target: ByteRange
    /// The form of the target.
    public let targetForm: TargetForm
    /// The path of the target as sent; empty if there is none.
    public let path: ByteRange
    /// The query of the target without the question mark; nil if there is none.
    public let query: ByteRange?
    /// 0 for HTTP/1.0, 1 for HTTP/1.1.
    public let versionMinor: UInt8
    /// How the body ends.
    public let framing: BodyFraming
    /// Whether the connection persists after this request (RFC 9112 section 9.3).
    public let keepAlive: Bool
    /// The value of `Host`. Without `Host`, which only HTTP/1.0 allows, the authority of an absolute target, or nil.
    public let host: ByteRange?
    /// Whether there is an `Upgrade` field with any value.
    public let upgradeOffered: Bool
    /// Whether `Connection` lists `upgrade`.
    public let connectionSaysUpgrade: Bool
    /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1).
    public let expectContinue: Bool
    /// The names listed by `Connection`, without `close`, `keep-alive` and `upgrade`.
    public let connectionNominated: [ByteRange]

    init(
        _ bytes: UnsafeRawBufferPointer, slice: ByteBuffer, line: RequestLineScanner, section: FieldScanner
    ) throws(WireError) {
        try self.init(
            bytes, slice: slice, method: line.method, target: line.target, fields: section.fields,
            present: section.present, facts: section.facts)
    }

    /// What holds for a head as a whole, whether a scanner or a builder has found its parts.
    init(
        _ bytes: UnsafeRawBufferPointer, slice: ByteBuffer, method methodRange: ByteRange, target: ByteRange,
        fields: [HeaderField], present: KnownFieldSet, facts: MessageFacts
    ) throws(WireError) {
        let method = RequestMethod(bytes, methodRange)
        let parts = try TargetParts(bytes, target: target, method: method)
        guard facts.host != nil || facts.versionMinor == 0 else { throw WireError(.missingHost, "no Host") }
        if parts.form == .absolute, let host = facts.host, let authority = parts.authority {
            guard ByteScan.equals(bytes, host, authority) else {
                throw WireError(.hostMismatch, "Host differs from the authority of the target")
            }
        }
        self.bytes = slice
        self.fields = fields
        self.present = present
        self.method = methodRange
        self.knownMethod = method
        self.target = target
        self.targetForm = parts.form
        self.path = parts.path
        self.query = parts.query
        self.versionMinor = facts.versionMinor
        self.framing = facts.isChunked ? .chunked : facts.contentLength.map(BodyFraming.length) ?? .none
        self.keepAlive = facts.keepsAlive
        self.host = facts.host ?? (parts.form == .absolute ? parts.authority : nil)
        self.upgradeOffered = present.contains(.upgrade)
        self.connectionSaysUpgrade = facts.saysUpgrade
        self.expectContinue = facts.expectsContinue && facts.versionMinor == 1
        self.connectionNominated = facts.nominated
    }

    /// Parses a head that is completely in `buffer`. For input that arrives in pieces, keep a ``HeadScanner``.
    public static func parse(
        _ buffer: inout ByteBuffer, limits: WireLimits = WireLimits()
    ) -> ParseResult<RequestHead> {
        var scanner = HeadScanner(limits: limits)
        return scanner.feed(&buffer)
    }
}
