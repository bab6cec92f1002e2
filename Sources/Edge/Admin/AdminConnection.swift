import AdminAPI
import Answers
import EdgeCore
import Gate
import Glibc
import HTTPWire
import NIOCore

/// One connection of an operator: one request, one answer. It is closed when it has neither in time. Confined to its
/// event loop; the answer is made in a task. Every answer closes the connection, also over HTTP/1.1, and bytes after
/// the first request are ignored.
final class AdminConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The longest head and body, in bytes. Both limits are the same for every endpoint; an operator's requests are
    /// short.
    private static let maxHead = 16 * 1024
    private static let maxBody = 16 * 1024
    /// How long a request may take to arrive, and a part of an answer to be read.
    private static let patience = TimeAmount.seconds(30)

    /// How far the request has come.
    private enum Progress {
        case head
        /// The head is complete, and its body is not.
        indirect case body(RequestHead)
        /// The answer is being made or written; bytes that come are dropped.
        case answered
    }

    private let listener: AdminListener
    private var scanner = HeadScanner(limits: WireLimits(maxHead: maxHead))
    private var inbound = ByteBuffer()
    private var progress = Progress.head
    private var deadline: Scheduled<Void>?

    init(_ listener: AdminListener) { self.listener = listener }

    /// Sets the time limit for the whole request.
    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    /// Collects the head and the body, and answers once both are there. A head that can't be read is refused with the
    /// parser's status, a body that is not taken with 411 or 413.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if case .answered = progress { return }
        inbound.writeBuffer(&bytes)
        if case .head = progress {
            switch scanner.feed(&inbound) {
            case .needMoreData: return
            case .failed(let error): return refuse(Problem(wire: error), nil, context)
            case .head(let head): progress = .body(head)
            }
        }
        if case .body(let head) = progress { take(head, context) }
    }

    /// Answers once the body is there.
    private func take(_ head: RequestHead, _ context: ChannelHandlerContext) {
        var length = 0
        switch head.framing {
        case .none: break
        case .length(let count) where count <= Self.maxBody: length = Int(clamping: count)
        case .length:
            return refuse(Problem(.payloadTooLarge, detail: "At most 16 KiB are taken here."), head, context)
        case .chunked, .untilClose:
            let detail = "Send the body with Content-Length."
            return refuse(
                Problem(.invalidRequest, .lengthMissing, detail: detail, reason: "length_missing"), head, context)
        }
        guard inbound.readableBytes >= length, let body = inbound.readBytes(length: length) else { return }
        progress = .answered
        deadline?.cancel()
        let request = Self.request(head, body, context.channel)
        let (listener, channel) = (listener, context.channel)
        let writer = AdminWriter(
            channel: channel, isHead: head.knownMethod == .head, isChunked: head.versionMinor > 0,
            patience: Self.patience)
        context.eventLoop.makeFutureWithTask {
            let answer = await listener.answer(request)
            await writer.write(answer)
        }.whenComplete { _ in Self.finish(channel) }
    }

    /// - Parameter head: nil where it can't be read.
    private func refuse(_ problem: Problem, _ head: RequestHead?, _ context: ChannelHandlerContext) {
        progress = .answered
        let (listener, channel) = (listener, context.channel)
        let request =
            head.map { Self.request($0, [], channel) }
            ?? AdminRequest(id: Self.freshID(), method: "", path: "", peer: Self.peer(of: channel))
        let writer = AdminWriter(
            channel: channel, isHead: head?.knownMethod == .head, isChunked: false, patience: Self.patience)
        context.eventLoop.makeFutureWithTask { await writer.write(listener.refuse(problem, request)) }
            .whenComplete { _ in Self.finish(channel) }
    }

    /// Ends the output, and closes the connection a second later. If it were closed at once while the client still
    /// sends, the kernel would reset the connection, and the client could lose the answer.
    private static func finish(_ channel: any Channel) {
        channel.close(mode: .output, promise: nil)
        channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
    }

    private static func request(_ head: RequestHead, _ body: [UInt8], _ channel: any Channel) -> AdminRequest {
        func text(_ field: KnownField) -> String? { head.first(field).map { head.string($0.value) } }
        let method = head.knownMethod == .head ? "GET" : head.string(head.method)
        var request = AdminRequest(
            id: freshID(), method: method, path: head.string(head.path), query: head.query.map { head.string($0) },
            peer: peer(of: channel))
        request.shownMethod = head.registeredMethod
        do throws(Problem) {
            request.authorization = try Carriers.read(fields: head, query: nil, cookies: .none).authorization
        } catch {
            request.credentialsFault = error
        }
        request.origin = head.count(.origin) > 1 ? "" : text(.origin)
        request.fetchSite = head.count(.secFetchSite) > 1 ? "" : text(.secFetchSite)
        request.host = head.host.map { head.string($0) }
        request.accept = text(.accept)
        // What stands behind a space is ignored like a parameter, as on the public listener.
        request.contentType = head.mediaType.map { String($0.prefix { $0 != " " }) }
        request.body = body
        return request
    }

    private static func freshID() -> String {
        "req_" + RequestID.padded(UInt64.random(in: .min ... .max), to: 13) + "00000000"
    }

    /// Who is at the other end. On a Unix socket the kernel says which user's process that is.
    private static func peer(of channel: any Channel) -> AdminPeer {
        if let address = channel.remoteAddress?.ipAddress { return .network(address) }
        #if os(Linux)
        /// `struct ucred` of `unix(7)`.
        struct Credentials {
            var process: Int32 = 0
            var user: UInt32 = .max
            var group: UInt32 = .max
        }
        let found = ChannelSocket.borrow(from: channel) { socket -> Credentials? in
            var credentials = Credentials()
            var size = socklen_t(MemoryLayout<Credentials>.size)
            let code = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size)
            return code == 0 && size == MemoryLayout<Credentials>.size ? credentials : nil
        }
        if let found, let credentials = found, credentials.process > 0 { return .process(user: credentials.user) }
        #endif
        return .unknown
    }
}

/// Writes one answer. A part is made when the one before it was taken, so a long answer is never held whole.
private struct AdminWriter: Sendable {
    let channel: any Channel
    let isHead: Bool
    /// Whether the client knows chunks, without which the end of the connection is the end of the answer.
    let isChunked: Bool
    /// How long a client may take to read one part.
    let patience: TimeAmount

    func write(_ answer: AdminAnswer) async {
        var head = AnswerFields(.lines)
        head.addStatusLine(answer.status)
        for field in answer.fields { head.add(field.name, field.value) }
        var out = head.lines
        if !answer.fields.contains(where: { $0.name == "Cache-Control" }) {
            out.writeStaticString("Cache-Control: no-store\r\n")
        }
        out.writeStaticString("Connection: close\r\n")
        switch answer.body {
        case .none:
            if answer.status != 204 { out.writeStaticString("Content-Length: 0\r\n") }
            out.writeStaticString("\r\n")
            try? await send(out)
        case .whole(let bytes):
            out.writeString("Content-Length: \(bytes.count)\r\n\r\n")
            if !isHead { out.writeBytes(bytes) }
            try? await send(out)
        case .lines(let lines):
            if isChunked { out.writeStaticString("Transfer-Encoding: chunked\r\n") }
            out.writeStaticString("\r\n")
            // Without its last chunk, a client sees that an answer broke off.
            try? await write(lines, after: out)
        }
    }

    private func write(_ lines: AdminLines, after head: ByteBuffer) async throws {
        try await send(head)
        if isHead { return }
        try await lines.write { bytes in
            var out = ByteBuffer()
            if isChunked { out.writeString(String(bytes.count, radix: 16) + "\r\n") }
            out.writeBytes(bytes)
            if isChunked { out.writeStaticString("\r\n") }
            try await send(out)
        }
        if isChunked { try await send(ByteBuffer(string: "0\r\n\r\n")) }
    }

    /// Sends bytes, and returns when the kernel has them. A client that does not read is cut off.
    private func send(_ bytes: ByteBuffer) async throws {
        let channel = channel
        let cut = channel.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
        defer { cut.cancel() }
        try await channel.writeAndFlush(bytes).get()
    }
}
