import NIOCore

/// The methods that the edge tells apart; every other token is `other`.
package enum RequestMethod: UInt8, Sendable {
    case get, head, post, put, delete, patch, options, connect, trace, other

    init(_ bytes: UnsafeRawBufferPointer, _ range: ByteRange) {
        // Lower-case letters never get this far, so the comparison without regard to case is exact.
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

/// A request head that has passed every rule of the wire.
package struct RequestHead: MessageHead {
    package let bytes: ByteBuffer
    package let fields: [HeaderField]
    package let present: KnownFieldSet
    /// The method as sent.
    package let method: ByteRange
    /// Which of the usual methods it is.
    package let knownMethod: RequestMethod
    /// The request target as sent.
    package let target: ByteRange
    /// Which form the target has.
    package let targetForm: TargetForm
    /// The path part of the target as sent; empty when there is none.
    package let path: ByteRange
    /// The query part of the target, without the question mark.
    package let query: ByteRange?
    /// 0 or 1.
    package let versionMinor: UInt8
    /// How the body ends.
    package let framing: BodyFraming
    /// Whether the client will go on with the connection.
    package let keepAlive: Bool
    /// `Host`, or of an HTTP/1.0 request without one the authority of its target.
    package let host: ByteRange?
    /// Whether there is an `Upgrade` field, whatever it says.
    package let upgradeOffered: Bool
    /// Whether `Connection` lists `upgrade`.
    package let connectionSaysUpgrade: Bool
    /// Whether the client waits for a 100 before it sends the body.
    package let expectContinue: Bool
    /// The names listed by `Connection`, but for `close`, `keep-alive` and `upgrade`.
    package let connectionNominated: [ByteRange]

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

    /// Reads a head that is wholly in `buffer`; for input that arrives in pieces keep a `HeadScanner`.
    package static func parse(
        _ buffer: inout ByteBuffer, limits: WireLimits = WireLimits()
    ) -> ParseResult<RequestHead> {
        var scanner = HeadScanner(limits: limits)
        return scanner.feed(&buffer)
    }
}
