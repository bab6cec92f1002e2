import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import NIOCore

/// Writes the head of a request as the upstream gets it. Left out are hop-by-hop fields, the names that only the
/// gateway may assert, and credentials. Identity and tracing are added.
package struct ForwardedHead {
    /// The settings of the route.
    package struct Options {
        var forwardsAuthorization = false
        /// Sent instead of fields of the same name.
        package var headers: [RouteConfiguration.Header] = []
        /// The path of the upstream's URL, which goes before the forwarded path.
        var basePath: [UInt8] = []
        /// The upstream's name, for requests that name no host.
        package var authority = ""

        /// Creates the settings of a route that has none of its own.
        package init() {}

        /// Takes the settings from a route and its pool.
        package init(_ route: Route, pool: UpstreamPool) {
            forwardsAuthorization = route.configuration.forwardAuthorization
            headers = route.configuration.headers
            basePath = pool.basePath
            authority = pool.authority
        }
    }

    /// The client's request.
    package let request: EdgeRequest
    /// The path for the upstream.
    package let path: ArraySlice<UInt8>
    /// The query without credentials; nil when there is none left.
    package let query: [UInt8]?
    /// The fields that say who the caller is, each with its line end.
    package let identity: ByteBuffer
    /// The settings of the route.
    package let options: Options

    package init(
        request: EdgeRequest, path: ArraySlice<UInt8>, query: [UInt8]?, identity: ByteBuffer, options: Options
    ) {
        self.request = request
        self.path = path
        self.query = query
        self.identity = identity
        self.options = options
    }

    /// The head of an ordinary request, with its framing.
    package func plain() -> ByteBuffer {
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
    package func upgrade(protocols: [String]) -> ByteBuffer {
        var out = start()
        copyFields(to: &out) { $0 == .secWebSocketProtocol }
        out.writeStaticString("Connection: Upgrade\r\nUpgrade: websocket\r\n")
        if !protocols.isEmpty { out.writeString("Sec-WebSocket-Protocol: \(protocols.joined(separator: ", "))\r\n") }
        finish(&out)
        return out
    }

    /// The valid `traceparent` of the request; nil when there is none, or more than one.
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
        // An HTTP/1.0 client need not name a host, but an HTTP/1.1 upstream needs one.
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
            request.traces.writeTraceparent(to: &out)
            out.writeStaticString("\r\n")
        }
    }

    /// Copies the fields that are forwarded. Neighbouring ones are copied in one piece.
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
            // A field belongs to the piece where only the CRLF lies between; white space after a value is not copied.
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
            // Without a valid parent the trace begins here, and the state of another trace does not apply.
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
