import HTTPWire
import NIOCore

/// Writes the head of a request as the upstream gets it: hop-by-hop fields first, then whole families of names that
/// only the gateway may assert, then credentials are left out; then identity and tracing are added.
struct ForwardedHead {
    /// What is particular to the route.
    struct Options {
        var forwardsAuthorization = false
        /// Sent instead of fields of the same name.
        var headers: [RouteConfiguration.Header] = []
        /// What goes before the path.
        var basePath: [UInt8] = []
        /// The upstream's own name, for requests that name no host.
        var authority = ""

        init() {}

        init(_ route: Route, pool: UpstreamPool) {
            forwardsAuthorization = route.configuration.forwardAuthorization
            headers = route.configuration.headers
            basePath = pool.basePath
            authority = pool.authority
        }
    }

    let request: EdgeRequest
    let path: ArraySlice<UInt8>
    /// The query without credentials; nil when there is none left.
    let query: [UInt8]?
    /// Fields that say who calls, each with its line end.
    let identity: ByteBuffer
    let options: Options

    /// The head of a plain request, with its framing.
    func plain() -> ByteBuffer {
        var out = start()
        copyFields(to: &out) { _ in false }
        switch request.head.framing {
        case .length(let count): HeadWriter.field("Content-Length", count, to: &out)
        case .chunked: out.writeStaticString("Transfer-Encoding: chunked\r\n")
        case .none, .untilClose: break
        }
        if request.head.expectContinue { out.writeStaticString("Expect: 100-continue\r\n") }
        finish(&out)
        return out
    }

    /// The head of a WebSocket upgrade; `protocols` are the offers without credentials.
    func upgrade(protocols: [String]) -> ByteBuffer {
        var out = start()
        copyFields(to: &out) { $0 == .secWebSocketProtocol }
        out.writeStaticString("Connection: Upgrade\r\nUpgrade: websocket\r\n")
        if !protocols.isEmpty { out.writeString("Sec-WebSocket-Protocol: \(protocols.joined(separator: ", "))\r\n") }
        finish(&out)
        return out
    }

    /// The one sound `traceparent` of the request.
    private var trace: HeaderField? {
        guard request.head.present.contains(.traceparent), let field = request.head.only(.traceparent),
            !isNominated(field), request.head.withBytes(field.value, { TraceContext.isValid($0) })
        else { return nil }
        return field
    }

    private func start() -> ByteBuffer {
        var out = ByteBuffer()
        out.reserveCapacity(request.head.bytes.readableBytes + identity.readableBytes + 512)
        request.head.withBytes(request.head.method) { _ = out.writeBytes($0) }
        out.writeStaticString(" ")
        out.writeBytes(options.basePath)
        out.writeBytes(path)
        if let query {
            out.writeStaticString("?")
            out.writeBytes(query)
        }
        out.writeStaticString(" HTTP/1.1\r\nHost: ")
        // An HTTP/1.0 client need not name a host; an HTTP/1.1 upstream wants one.
        out.writeString(request.host.isEmpty ? options.authority : request.host)
        out.writeStaticString("\r\n")
        return out
    }

    private func finish(_ out: inout ByteBuffer) {
        for header in options.headers {
            out.writeString("\(header.name): \(header.value)\r\n")
        }
        out.writeImmutableBuffer(identity)
        writeForwarding(to: &out)
        out.writeStaticString("\r\n")
    }

    private func writeForwarding(to out: inout ByteBuffer) {
        out.writeStaticString("X-Forwarded-For: ")
        out.writeString(request.forwardedFor)
        out.writeStaticString("\r\nX-Forwarded-Proto: ")
        out.writeStaticString(request.isSecure ? "https" : "http")
        if !request.forwardedHost.isEmpty {
            out.writeStaticString("\r\nX-Forwarded-Host: ")
            out.writeString(request.forwardedHost)
        }
        out.writeStaticString("\r\nX-Request-Id: ")
        request.requestID.write(to: &out)
        out.writeStaticString("\r\n")
        if trace == nil {
            out.writeStaticString("traceparent: ")
            request.loop.writeTraceparent(to: &out)
            out.writeStaticString("\r\n")
        }
    }

    /// Copies what may pass. Neighbouring fields that pass are copied in one piece.
    private func copyFields(to out: inout ByteBuffer, except isDropped: (KnownField) -> Bool) {
        let head = request.head
        var run: ByteRange?
        func endRun() {
            guard let piece = run else { return }
            head.withBytes(piece) { _ = out.writeBytes($0) }
            out.writeStaticString("\r\n")
            run = nil
        }
        for field in head.fields {
            guard passes(field), !isDropped(field.id) else {
                endRun()
                if field.id == .cookie, !isNominated(field) { copyCookies(field, to: &out) }
                continue
            }
            // A run goes on where nothing but the CRLF lies between; white space behind a value is not copied.
            if let piece = run, piece.end + 2 == field.name.start {
                run = ByteRange(start: piece.start, end: field.value.end)
            } else {
                endRun()
                run = ByteRange(start: field.name.start, end: field.value.end)
            }
        }
        endRun()
    }

    private func passes(_ field: HeaderField) -> Bool {
        switch field.id {
        case .host, .contentLength, .transferEncoding, .cookie, .sessionID, .sessionSecret, .dpop, .expect,
            .xRequestID, .methodOverride:
            return false
        case .authorization:
            return options.forwardsAuthorization && !isNominated(field)
        case .traceparent, .tracestate:
            // Without a sound parent the trace begins here, and what was said of another one is void.
            return trace != nil && !isNominated(field)
        default: break
        }
        if field.id.isHopByHop || field.id.isIdentityFamily || !field.hasPlainName { return false }
        if isNominated(field) { return false }
        return !isReplaced(field)
    }

    private func isNominated(_ field: HeaderField) -> Bool {
        !request.head.connectionNominated.isEmpty
            && request.head.isNominated(field, by: request.head.connectionNominated)
    }

    /// Whether the route sends a value of its own under this name.
    private func isReplaced(_ field: HeaderField) -> Bool {
        guard !options.headers.isEmpty else { return false }
        return request.head.withBytes(field.name) { name in
            options.headers.contains { header in
                header.name.utf8.count == name.count
                    && zip(header.name.utf8, name).allSatisfy { ASCII.lower($0) == ASCII.lower($1) }
            }
        }
    }

    private func copyCookies(_ field: HeaderField, to out: inout ByteBuffer) {
        let kept = request.head.withBytes(field.value) { CookieHeader.strippingGatewayCookies($0) }
        guard let kept else { return }
        out.writeStaticString("Cookie: ")
        out.writeBytes(kept)
        out.writeStaticString("\r\n")
    }
}

/// ASCII letters without regard to case.
enum ASCII {
    static func lower(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
    }
}

/// W3C trace context, as far as a gateway that starts or passes a trace needs it.
enum TraceContext {
    /// A `traceparent` value of version 00 for a trace that nobody records, and that says so.
    static func write(_ high: UInt64, _ low: UInt64, span: UInt64, to buffer: inout ByteBuffer) {
        buffer.writeStaticString("00-")
        writeHex(high, to: &buffer)
        writeHex(low | 1, to: &buffer)
        buffer.writeStaticString("-")
        writeHex(span | 1, to: &buffer)
        buffer.writeStaticString("-00")
    }

    /// Whether a client's value has the form of version 00, with a trace id and a parent id that are not all zeros.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == 55, bytes[0] == UInt8(ascii: "0"), bytes[1] == UInt8(ascii: "0") else { return false }
        var (hasTrace, hasParent) = (false, false)
        for index in 0..<55 {
            let byte = bytes[index]
            if index == 2 || index == 35 || index == 52 {
                if byte != UInt8(ascii: "-") { return false }
            } else if !(0x30...0x39).contains(byte), !(0x61...0x66).contains(byte) {
                return false
            } else if byte != UInt8(ascii: "0") {
                if (3..<35).contains(index) { hasTrace = true }
                if (36..<52).contains(index) { hasParent = true }
            }
        }
        return hasTrace && hasParent
    }

    /// Sixteen digits, as the bytes of two words.
    private static func writeHex(_ number: UInt64, to buffer: inout ByteBuffer) {
        buffer.writeInteger(hexDigits(of: UInt32(truncatingIfNeeded: number >> 32)))
        buffer.writeInteger(hexDigits(of: UInt32(truncatingIfNeeded: number)))
    }

    private static func hexDigits(of half: UInt32) -> UInt64 {
        var digits: UInt64 = 0
        for place in 0..<8 {
            let nibble = UInt64(half >> UInt32(28 - 4 * place)) & 0x0F
            digits = digits << 8 | (nibble < 10 ? nibble + 0x30 : nibble - 10 + 0x61)
        }
        return digits
    }
}
