import HTTPWire
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Makes one HTTP/2 stream look like an HTTP/1.1 connection with one request, so that it passes the very same parser,
/// canonical path and gate; and the answer's bytes HTTP/2 frames again.
///
/// Extended CONNECT with `:protocol: websocket` (RFC 8441) becomes an upgrade request.
final class HTTP2Adapter: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = HTTP2Frame.FramePayload

    private var isTunnel = false
    private var isChunkedRequest = false
    private var hasRequest = false
    private var isInputDone = false
    private var isHeadRequest = false
    /// Whether the request was malformed: whatever else comes of it is read over.
    private var isRefused = false

    private var answer = ResponseScanner()
    private var decoder = BodyDecoder(.none)
    private var outbound = ByteBuffer()
    private var isAnswering = false
    private var isOutputDone = false
    /// The frame that ends the stream, for as long as the client's window keeps it here.
    private var lastFrame: EventLoopFuture<Void>?
    /// Whether that frame has left.
    private var hasAnswered = false

    // MARK: Frames in, bytes out

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isRefused { return }
        switch unwrapInboundIn(data) {
        case .headers(let headers):
            if hasRequest {
                // Trailers: dropped, as over HTTP/1.1.
                if headers.endStream { endInput(context) }
            } else {
                begin(context, headers)
            }
        case .data(let data):
            guard case .byteBuffer(let bytes) = data.data else { return }
            if bytes.readableBytes > 0 { forward(context, bytes) }
            if data.endStream { endInput(context) }
        default: break
        }
    }

    private func begin(_ context: ChannelHandlerContext, _ headers: HTTP2Frame.FramePayload.Headers) {
        hasRequest = true
        guard var bytes = HTTP2RequestText.head(of: headers.headers, endsStream: headers.endStream) else {
            isHeadRequest = headers.headers.first(name: ":method") == "HEAD"
            return refuse(context, endsStream: headers.endStream)
        }
        isTunnel = bytes.isTunnel
        isChunkedRequest = bytes.isChunked
        isHeadRequest = bytes.isHead
        context.fireChannelRead(wrapInboundOut(bytes.take()))
        if headers.endStream { isInputDone = true }
    }

    private func forward(_ context: ChannelHandlerContext, _ bytes: ByteBuffer) {
        guard isChunkedRequest else {
            context.fireChannelRead(wrapInboundOut(bytes))
            return
        }
        var chunk = ByteBuffer()
        chunk.writeString(String(bytes.readableBytes, radix: 16) + "\r\n")
        chunk.writeImmutableBuffer(bytes)
        chunk.writeStaticString("\r\n")
        context.fireChannelRead(wrapInboundOut(chunk))
    }

    private func endInput(_ context: ChannelHandlerContext) {
        guard !isInputDone else { return }
        isInputDone = true
        if isChunkedRequest {
            context.fireChannelRead(wrapInboundOut(ByteBuffer(string: "0\r\n\r\n")))
        } else if isTunnel {
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
    }

    /// Malformed by HTTP/2's own rules (RFC 9113 section 8.1.1): answered like a malformed head over HTTP/1.1, and reset
    /// behind the answer if more was to come.
    private func refuse(_ context: ChannelHandlerContext, endsStream: Bool) {
        isRefused = true
        isInputDone = endsStream
        context.fireUserInboundEventTriggered(Problem(.badMessage, reason: "http2_head"))
    }

    /// Any 2xx would tell the client that its tunnel is open (RFC 8441 section 5), and there is none.
    private func refuseTunnel(_ context: ChannelHandlerContext) {
        isTunnel = false
        writeEmptyAnswer(context, status: "501")
        // Whoever is writing the answer learns that its client has gone, but not from within that write.
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.execute {
            let (adapter, context) = bound.value
            context.writeAndFlush(adapter.wrapOutboundOut(.rstStream(.noError)), promise: nil)
        }
    }

    private func writeEmptyAnswer(_ context: ChannelHandlerContext, status: String) {
        isOutputDone = true
        var fields = HPACKHeaders()
        fields.add(name: ":status", value: status)
        fields.add(name: "content-length", value: "0")
        fields.add(name: "cache-control", value: "no-store")
        context.writeAndFlush(wrapOutboundOut(.headers(.init(headers: fields, endStream: true))), promise: nil)
    }

    // MARK: Bytes in, frames out

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var bytes = unwrapOutboundIn(data)
        if isTunnel, isAnswering, !isOutputDone {
            // Who writes into a tunnel wants to know when the client's window has let it go.
            context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(bytes)))), promise: promise)
            return
        } else {
            outbound.writeBuffer(&bytes)
            drain(context)
        }
        if let lastFrame { lastFrame.cascade(to: promise) } else { promise?.succeed() }
    }

    private func drain(_ context: ChannelHandlerContext) {
        while outbound.readableBytes > 0 || isAnswering, !isOutputDone {
            if isAnswering {
                if isTunnel {
                    let rest = outbound
                    outbound = ByteBuffer()
                    if rest.readableBytes > 0 { send(context, rest) }
                    return
                }
                switch decoder.next(&outbound) {
                case .data(let part): send(context, part)
                case .end: return finish(context)
                case .needMoreData: return
                case .failed: return reset(context)
                }
            } else {
                guard readHead(context) else { return }
            }
        }
    }

    private func readHead(_ context: ChannelHandlerContext) -> Bool {
        switch answer.feed(&outbound, requestWasHead: isHeadRequest) {
        case .needMoreData: return false
        case .failed:
            reset(context)
            return false
        case .head(let head):
            let becomesTunnel = isTunnel && head.status == 101
            if isTunnel, (200..<300).contains(head.status) {
                refuseTunnel(context)
                return false
            }
            if isTunnel, !becomesTunnel, head.status >= 200 { isTunnel = false }
            if head.status < 200, !becomesTunnel {
                if head.status != 101 { sendHead(context, head, status: head.status, ends: false) }
                return true
            }
            isAnswering = true
            decoder = BodyDecoder(head.framing)
            let ends = !becomesTunnel && (head.framing == .none || head.framing == .length(0))
            sendHead(context, head, status: becomesTunnel ? 200 : head.status, ends: ends)
            if ends { isOutputDone = true }
            return !ends
        }
    }

    private func sendHead(_ context: ChannelHandlerContext, _ head: ResponseHead, status: Int, ends: Bool) {
        var fields = HPACKHeaders()
        fields.add(name: ":status", value: String(status))
        for field in head.fields {
            if field.id.isHopByHop || field.id == .secWebSocketAccept { continue }
            fields.add(name: head.string(field.name).lowercased(), value: head.string(field.value))
        }
        let frame = HTTP2Frame.FramePayload.headers(.init(headers: fields, endStream: ends))
        if ends { writeLast(context, frame) } else { context.write(wrapOutboundOut(frame), promise: nil) }
    }

    private func writeLast(_ context: ChannelHandlerContext, _ frame: HTTP2Frame.FramePayload) {
        let written = context.eventLoop.makePromise(of: Void.self)
        lastFrame = written.futureResult
        let me = NIOLoopBound(self, eventLoop: context.eventLoop)
        written.futureResult.whenSuccess { me.value.hasAnswered = true }
        context.writeAndFlush(wrapOutboundOut(frame), promise: written)
    }

    private func send(_ context: ChannelHandlerContext, _ bytes: ByteBuffer) {
        guard !isOutputDone else { return }
        context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(bytes)))), promise: nil)
    }

    private func finish(_ context: ChannelHandlerContext) {
        guard !isOutputDone else { return }
        isOutputDone = true
        writeLast(context, .data(.init(data: .byteBuffer(ByteBuffer()), endStream: true)))
    }

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

    /// The connection layer above ends the stream: complete answers end it cleanly, others with CANCEL, and a malformed
    /// request of which more was to come with PROTOCOL_ERROR.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if isTunnel, isAnswering, mode == .output || !isOutputDone {
            // A tunnel's orderly end is END_STREAM (RFC 8441 section 5); the client still may have its own to send.
            finish(context)
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
