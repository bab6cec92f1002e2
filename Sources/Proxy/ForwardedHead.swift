import EdgeConfiguration
import EdgeCore
import Gate
import HTTPWire
import NIOCore

/// Writes the head of a request as the upstream gets it. Left out are hop-by-hop fields, the names that only the
/// gateway may assert, and credentials. Identity and tracing are added. The head is always HTTP/1.1, also for a client
/// of HTTP/2 or HTTP/1.0.
package struct ForwardedHead {
    /// The settings of the route. Made for each request; the same for all requests of a route but for the client's
    /// certificate and the protocol session.
    package struct Options {
        /// Whether `Authorization` passes as the client sent it (`forward_authorization`). Otherwise it is left out.
        var forwardsAuthorization = false
        /// Whether the route is a resource, so that the fields of parameters pass, whatever their names.
        var isResource = false
        /// Whether `Mcp-Session-Id` is left out.
        package var dropsProtocolSession = false
        /// The value of `Client-Cert`; nil where the upstream is not told. A byte sequence of RFC 9440 section 2.2. A
        /// `Client-Cert` of the client never passes.
        package var clientCertificate: String?
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
            isResource = route.access.resource != nil
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

    /// - Parameter path: canonical. The upstream's base path is put before it.
    /// - Parameter identity: as `IdentityMaker` makes it.
    package init(
        request: EdgeRequest, path: ArraySlice<UInt8>, query: [UInt8]?, identity: ByteBuffer, options: Options
    ) {
        self.request = request
        self.path = path
        self.query = query
        self.identity = identity
        self.options = options
    }

    /// The head of an ordinary request, with its framing. `Content-Length` or `Transfer-Encoding` is written from what
    /// the parser has read, never copied (RFC 9112 section 6.3).
    package func plain() -> ByteBuffer {
        BytePen.written(expecting: expectedSize) { out in
            start(&out)
            copyFields(to: &out) { _ in false }
            switch request.head.framing {
            case .length(let count):
                out.write(literal: "Content-Length: ")
                out.write(decimal: count)
                out.write(literal: "\r\n")
            case .chunked: out.write(literal: "Transfer-Encoding: chunked\r\n")
            case .none, .untilClose: break
            }
            if request.head.expectContinue { out.write(literal: "Expect: 100-continue\r\n") }
            finish(&out)
        }
    }

    /// The head of a WebSocket upgrade; `protocols` are the offers without credentials. The fields of RFC 6455 section
    /// 4.1; the key and the version are the client's.
    package func upgrade(protocols: [String]) -> ByteBuffer {
        BytePen.written(expecting: expectedSize) { out in
            start(&out)
            copyFields(to: &out) { $0 == .secWebSocketProtocol }
            out.write(literal: "Connection: Upgrade\r\nUpgrade: websocket\r\n")
            if !protocols.isEmpty {
                out.write("Sec-WebSocket-Protocol: \(protocols.joined(separator: ", "))\r\n")
            }
            finish(&out)
        }
    }

    private var expectedSize: Int {
        request.head.bytes.readableBytes + identity.readableBytes + options.basePath.count + 512
            + (options.clientCertificate?.utf8.count ?? 0)
    }

    /// Whether the client's `traceparent` is forwarded as it came. Otherwise the gateway writes its own.
    private var passesTrace: Bool { request.trace.parent != nil && !request.trace.isRecorded }

    private func start(_ out: inout BytePen) {
        out.write(request.head.method, of: request.head)
        out.write(literal: " ")
        out.write(options.basePath)
        out.write(path)
        if let query {
            out.write(literal: "?")
            out.write(query)
        }
        out.write(literal: " HTTP/1.1\r\nHost: ")
        // An HTTP/1.0 client need not name a host, but an HTTP/1.1 upstream needs one.
        out.write(request.host.isEmpty ? options.authority : request.host)
        out.write(literal: "\r\n")
    }

    private func finish(_ out: inout BytePen) {
        for header in options.headers { out.write("\(header.name): \(header.value)\r\n") }
        out.write(identity)
        if let certificate = options.clientCertificate { out.write("Client-Cert: \(certificate)\r\n") }
        writeForwarding(to: &out)
        out.write(literal: "\r\n")
    }

    private func writeForwarding(to out: inout BytePen) {
        out.write(literal: "X-Forwarded-For: ")
        out.write(request.forwardedFor)
        if request.isSecure {
            out.write(literal: "\r\nX-Forwarded-Proto: https")
        } else {
            out.write(literal: "\r\nX-Forwarded-Proto: http")
        }
        if !request.forwardedHost.isEmpty {
            out.write(literal: "\r\nX-Forwarded-Host: ")
            out.write(request.forwardedHost)
        }
        out.write(literal: "\r\nX-Request-Id: ")
        request.requestID.write(to: &out)
        if !passesTrace {
            out.write(literal: "\r\ntraceparent: ")
            request.trace.write(to: &out)
        }
        out.write(literal: "\r\n")
    }

    /// Copies the fields that are forwarded. Neighbouring ones are copied in one piece.
    private func copyFields(to out: inout BytePen, except isDropped: (KnownField) -> Bool) {
        let head = request.head
        var run: ByteRange?
        func endRun() {
            guard let piece = run else { return }
            out.write(piece, of: head)
            out.write(literal: "\r\n")
            run = nil
        }
        for field in head.fields {
            guard passes(field), !isDropped(field.id) else {
                endRun()
                if !isDropped(field.id), !isNominated(field) { copyRest(of: field, to: &out) }
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
            .xRequestID, .methodOverride, .secWebSocketProtocol:
            return false
        case .authorization:
            return options.forwardsAuthorization && !isNominated(field)
        case .traceparent: return passesTrace
        // Without a valid parent the trace begins here, and the state of another trace does not apply.
        case .tracestate: return request.trace.parent != nil && !isNominated(field)
        default: break
        }
        if field.id == .mcpSessionID, options.dropsProtocolSession { return false }
        if field.id.isHopByHop || field.id.isIdentityFamily { return false }
        if !field.hasPlainName, !(options.isResource && isParameter(field)) { return false }
        if isNominated(field) { return false }
        return !isReplaced(field)
    }

    private func isNominated(_ field: HeaderField) -> Bool {
        !request.head.connectionNominated.isEmpty
            && request.head.isNominated(field, by: request.head.connectionNominated)
    }

    /// Whether the name begins with `Mcp-Param-`.
    private func isParameter(_ field: HeaderField) -> Bool {
        guard field.name.count > 10 else { return false }
        return request.head.equals(ByteRange(start: field.name.start, end: field.name.start + 10), "mcp-param-")
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

    /// Copies what is left of a field that holds credentials of the gateway beside others: cookies, and offers of
    /// subprotocols, which clients may send without an upgrade as well. Nothing of any other field.
    private func copyRest(of field: HeaderField, to out: inout BytePen) {
        let kept: [UInt8]?
        switch field.id {
        case .cookie:
            kept = request.head.withBytes(field.value) { CookieHeader.strippingGatewayCookies($0) }
            if kept != nil { out.write(literal: "Cookie: ") }
        case .secWebSocketProtocol where !isReplaced(field):
            kept = request.head.withBytes(field.value) { Subprotocols.withoutCredentials($0) }
            if kept != nil { out.write(literal: "Sec-WebSocket-Protocol: ") }
        default: return
        }
        guard let kept else { return }
        out.write(kept)
        out.write(literal: "\r\n")
    }
}
