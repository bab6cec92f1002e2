import EdgeCore
import HTTPWire
import NIOCore
import NIOHPACK
import NIOHTTP2

/// The frames of one HTTP/2 stream: gives its request to the ``EdgeConnection`` behind it, and frames what that answers.
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
    /// Whether the request was malformed: whatever else comes of it is read over.
    private var isRefused = false

    // The answer.
    private var isAnswering = false
    private var isOutputDone = false
    /// A head without a body, which ends the stream.
    private var endingHead: HTTP2Frame.FramePayload?
    /// The frame that ends the stream, for as long as the client's window keeps it here.
    private var lastFrame: EventLoopFuture<Void>?
    /// Whether that frame has left.
    private var hasAnswered = false

    /// - Parameter connection: a handler of the same channel, behind this one.
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
            // What HTTP/2's own rules forbid (RFC 9113 section 8.1.1) is answered like a malformed head over HTTP/1.1, and
            // reset behind the answer if more was to come.
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

    /// - Parameter head: a 1xx answer, whole.
    func writeInterim(_ head: ByteBuffer) {
        guard let context, !isAnswering, !isOutputDone else { return }
        let fields = HTTP2Answer.fields(of: head).fields
        context.write(wrapOutboundOut(.headers(.init(headers: fields, endStream: false))), promise: nil)
    }

    /// Begins the answer.
    ///
    /// - Parameters:
    ///   - head: status line and fields, without those that frame the body.
    ///   - more: further fields, each with its line end.
    func start(_ head: ByteBuffer, more: ByteBuffer?, _ terms: ConnectionMachine.AnswerTerms) {
        guard let context, !isAnswering, !isOutputDone else { return }
        var (fields, status) = HTTP2Answer.fields(of: head)
        if isTunnel, (200..<300).contains(status) { return refuseTunnel(context) }
        isTunnel = false
        isAnswering = true
        var ends = terms.isHead || terms.framing == .none
        if case .length(let count) = terms.framing {
            fields.add(name: "content-length", value: String(count))
            if count == 0 { ends = true }
        }
        if let more { HTTP2Answer.add(more, to: &fields) }
        let frame = HTTP2Frame.FramePayload.headers(.init(headers: fields, endStream: ends))
        guard ends else { return context.write(wrapOutboundOut(frame), promise: nil) }
        // It closes the stream as it is written, and what answers would be told that its client has gone: `end` writes it.
        endingHead = frame
    }

    func write(body bytes: ByteBuffer) {
        guard let context, isAnswering, !isOutputDone, endingHead == nil else { return }
        context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(bytes)))), promise: nil)
    }

    /// The end of the answer.
    func end() {
        guard let context, isAnswering, !isOutputDone else { return }
        isOutputDone = true
        writeLast(context, endingHead.take() ?? .data(.init(data: .byteBuffer(ByteBuffer()), endStream: true)))
    }

    /// The tunnel is open.
    ///
    /// - Parameter head: a 101 answer, and what follows it in the tunnel.
    func switchProtocols(_ head: ByteBuffer) {
        guard let context, isTunnel, !isAnswering, !isOutputDone else { return }
        isAnswering = true
        var head = head
        let fields = HTTP2Answer.fields(of: HTTP2Answer.takeHead(of: &head), as: "200").fields
        context.write(wrapOutboundOut(.headers(.init(headers: fields, endStream: false))), promise: nil)
        if head.readableBytes > 0 { write(body: head) }
    }

    /// Any 2xx would tell the client that its tunnel is open (RFC 8441 section 5), and there is none.
    private func refuseTunnel(_ context: ChannelHandlerContext) {
        isTunnel = false
        isOutputDone = true
        let fields: HPACKHeaders = [":status": "501", "content-length": "0", "cache-control": "no-store"]
        context.writeAndFlush(wrapOutboundOut(.headers(.init(headers: fields, endStream: true))), promise: nil)
        // What writes the answer learns that its client has gone, but not from within that write.
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

    /// Bytes of the tunnel. A promise of anything else tells when the answer has left: its last frame may have to wait
    /// until the client makes room for it.
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

    /// Closes when the last frame has left, or when the client makes no room for it.
    private func closeSoon(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        lastFrame?.whenComplete { _ in bound.value.close(promise: nil) }
        context.eventLoop.scheduleTask(in: .seconds(1)) { bound.value.close(promise: nil) }
    }

    private func reset(_ context: ChannelHandlerContext, _ code: HTTP2ErrorCode = .cancel) {
        isOutputDone = true
        context.writeAndFlush(wrapOutboundOut(.rstStream(code)), promise: nil)
    }

    /// The connection behind ends the stream: complete answers end it cleanly, others with CANCEL, and a malformed request
    /// of which more was to come with PROTOCOL_ERROR.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if isTunnel, isAnswering, mode == .output || !isOutputDone {
            // A tunnel's orderly end is END_STREAM (RFC 8441 section 5); the client still may have its own to send.
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
            // The answer is whole, and nothing more is read (RFC 9113 section 8.1).
            reset(context, .noError)
        }
        context.close(mode: .all, promise: promise)
    }
}
