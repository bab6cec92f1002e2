import EdgeCore
import HTTPWire
import NIOCore
import NIOHPACK
import NIOHTTP2

/// The frames of one HTTP/2 stream: gives its request to the ``EdgeConnection`` of the stream, and frames the answer.
///
/// Extended CONNECT with `:protocol: websocket` (RFC 8441) becomes an upgrade request; the bytes of its tunnel are DATA.
final class HTTP2Stream: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let connection: EdgeConnection
    private let limits: WireLimits
    private var context: ChannelHandlerContext?

    // The request.
    private var hasRequest = false
    private var isTunnel = false
    private var isInputDone = false
    /// Whether the request was malformed: the rest of it is ignored.
    private var isRefused = false

    // The answer.
    private var isAnswering = false
    private var isOutputDone = false
    /// A head without a body, which ends the stream.
    private var endingHead: HTTP2Frame.FramePayload?
    /// The write of the frame that ends the stream, while it waits for the client's window.
    private var lastFrame: EventLoopFuture<Void>?
    /// Whether that frame has been sent.
    private var hasAnswered = false

    /// - Parameter connection: the next handler of the same channel.
    init(_ connection: EdgeConnection, limits: WireLimits) {
        self.connection = connection
        self.limits = limits
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: The request

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isRefused { return }
        switch unwrapInboundIn(data) {
        case .headers(let headers):
            if !hasRequest {
                begin(headers)
            } else if headers.endStream {
                // Trailers: dropped, as over HTTP/1.1, unless they would frame or route the message.
                endInput(ForbiddenTrailer.fault(in: headers.headers.lazy.map(\.name)))
            }
        case .data(let data):
            guard case .byteBuffer(let bytes) = data.data else { return }
            if bytes.readableBytes > 0 { connection.received(bytes) }
            if data.endStream { endInput() }
        default: break
        }
    }

    private func begin(_ headers: HTTP2Frame.FramePayload.Headers) {
        hasRequest = true
        isInputDone = headers.endStream
        switch HTTP2Request.read(headers.headers, endsStream: headers.endStream, limits: limits) {
        case .request(let head, let isTunnel):
            self.isTunnel = isTunnel
            connection.received(head: head, isWhole: headers.endStream)
        case .refused(let error, let isHead):
            // A head that HTTP/2's own rules forbid (RFC 9113 section 8.1.1) is answered like a malformed head over
            // HTTP/1.1. If more of the request was to come, the stream is reset after the answer.
            isRefused = error == nil
            connection.receivedUnreadableHead(error, isHead: isHead)
        }
    }

    private func endInput(_ fault: WireError? = nil) {
        guard !isInputDone else { return }
        isInputDone = true
        if isTunnel { connection.inputClosed() } else { connection.receivedEnd(fault) }
    }

    // MARK: The answer

    /// Sends a 1xx answer.
    func writeInterim(_ head: AnswerHead) {
        guard let context, !isAnswering, !isOutputDone else { return }
        let fields = Self.fields(of: head)
        context.write(wrapOutboundOut(.headers(.init(headers: fields, endStream: false))), promise: nil)
    }

    /// Begins the answer.
    ///
    /// - Parameters:
    ///   - head: without the fields that frame the body.
    ///   - more: further fields.
    func start(_ head: AnswerHead, more: AnswerFields?, _ terms: ConnectionMachine.AnswerTerms) {
        guard let context, !isAnswering, !isOutputDone else { return }
        if isTunnel, (200..<300).contains(head.status) { return refuseTunnel(context) }
        isTunnel = false
        isAnswering = true
        var fields = Self.fields(of: head)
        var ends = terms.isHead || terms.framing == .none
        if case .length(let count) = terms.framing {
            fields.add(name: "content-length", value: String(count))
            if count == 0 { ends = true }
        }
        for field in more?.pairs ?? [] { fields.add(name: field.name, value: field.value) }
        let frame = HTTP2Frame.FramePayload.headers(.init(headers: fields, endStream: ends))
        guard ends else { return context.write(wrapOutboundOut(frame), promise: nil) }
        // It closes the stream as it is written, and what answers would be told that its client has gone: `end` writes it.
        endingHead = frame
    }

    func write(body bytes: ByteBuffer) {
        guard let context, isAnswering, !isOutputDone, endingHead == nil else { return }
        context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(bytes)))), promise: nil)
    }

    /// Ends the answer.
    func end() {
        guard let context, isAnswering, !isOutputDone else { return }
        isOutputDone = true
        writeLast(context, endingHead.take() ?? .data(.init(data: .byteBuffer(ByteBuffer()), endStream: true)))
    }

    /// Opens the tunnel.
    ///
    /// - Parameters:
    ///   - head: a 101 answer, which is 200 here.
    ///   - first: the first bytes in the tunnel.
    func switchProtocols(_ head: AnswerHead, _ first: ByteBuffer?) {
        guard let context, isTunnel, !isAnswering, !isOutputDone else { return }
        isAnswering = true
        let fields = Self.fields(of: head, status: 200)
        context.write(wrapOutboundOut(.headers(.init(headers: fields, endStream: false))), promise: nil)
        if let first, first.readableBytes > 0 { write(body: first) }
    }

    /// `:status` and the fields (RFC 9113 section 8.3.2).
    private static func fields(of head: AnswerHead, status: Int? = nil) -> HPACKHeaders {
        var fields = HPACKHeaders()
        fields.reserveCapacity(head.fields.pairs.count + 6)
        fields.add(name: ":status", value: String(status ?? head.status))
        for field in head.fields.pairs { fields.add(name: field.name, value: field.value) }
        return fields
    }

    /// Refuses a tunnel that would be answered with a 2xx: that would tell the client that its tunnel is open (RFC 8441
    /// section 5).
    private func refuseTunnel(_ context: ChannelHandlerContext) {
        isTunnel = false
        isOutputDone = true
        let fields: HPACKHeaders = [":status": "501", "content-length": "0", "cache-control": "no-store"]
        context.writeAndFlush(wrapOutboundOut(.headers(.init(headers: fields, endStream: true))), promise: nil)
        // The exchange that writes the answer is told that its client has gone, but not from within that write.
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.execute {
            let (stream, context) = bound.value
            context.writeAndFlush(stream.wrapOutboundOut(.rstStream(.noError)), promise: nil)
        }
    }

    private func writeLast(_ context: ChannelHandlerContext, _ frame: HTTP2Frame.FramePayload) {
        let written = context.eventLoop.makePromise(of: Void.self)
        lastFrame = written.futureResult
        let me = NIOLoopBound(self, eventLoop: context.eventLoop)
        written.futureResult.whenSuccess { me.value.hasAnswered = true }
        context.writeAndFlush(wrapOutboundOut(frame), promise: written)
    }

    /// Writes bytes of the tunnel. Outside a tunnel, a promise tells when the answer has been sent: its last frame may
    /// have to wait until the client's window has room for it.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isTunnel, isAnswering, !isOutputDone {
            context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(unwrapOutboundIn(data))))), promise: promise)
        } else if let lastFrame {
            lastFrame.cascade(to: promise)
        } else {
            promise?.succeed()
        }
    }

    // MARK: The end

    /// Closes when the last frame has been sent, or when the client's window stays too small for it.
    private func closeSoon(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        lastFrame?.whenComplete { _ in bound.value.close(promise: nil) }
        context.eventLoop.scheduleTask(in: .seconds(1)) { bound.value.close(promise: nil) }
    }

    private func reset(_ context: ChannelHandlerContext, _ code: HTTP2ErrorCode = .cancel) {
        isOutputDone = true
        context.writeAndFlush(wrapOutboundOut(.rstStream(code)), promise: nil)
    }

    /// Ends the stream for the connection: cleanly after a complete answer, else with CANCEL, and with PROTOCOL_ERROR
    /// where a malformed request was not complete.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if isTunnel, isAnswering, mode == .output || !isOutputDone {
            // A tunnel ends properly by END_STREAM (RFC 8441 section 5); the client may still send its own.
            end()
            promise?.succeed()
            if mode == .all { closeSoon(context) }
            return
        }
        if isRefused, !isInputDone {
            isInputDone = true
            reset(context, .protocolError)
        } else if !isOutputDone {
            reset(context)
        } else if !isInputDone, hasAnswered {
            // The answer is complete, and no more of the request is read (RFC 9113 section 8.1).
            reset(context, .noError)
        }
        context.close(mode: .all, promise: promise)
    }
}
