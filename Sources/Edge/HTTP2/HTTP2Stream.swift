import EdgeCore
import HTTPWire
import NIOCore
import NIOHPACK
import NIOHTTP2

/// The frames of one HTTP/2 stream: does what ``HTTP2StreamMachine`` decides. Gives its request to the
/// ``EdgeConnection`` of the stream, and frames the answer.
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
    /// Decides everything about the stream; nothing else keeps its state.
    private var machine = HTTP2StreamMachine()
    /// The head that the machine holds.
    private var heldHead: HTTP2Frame.FramePayload?
    /// The write of the frame that ends the stream.
    private var lastFrame: EventLoopFuture<Void>?

    /// - Parameter connection: the next handler of the same channel.
    init(_ connection: EdgeConnection, limits: WireLimits) {
        self.connection = connection
        self.limits = limits
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: The request

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let headers):
            if machine.awaitsHead {
                let head = HTTP2Request.read(headers.headers, endsStream: headers.endStream, limits: limits)
                deliver(machine.received(head, endsStream: headers.endStream))
            } else if headers.endStream {
                deliver(machine.receivedEnd(HTTP2Request.fault(ofTrailers: headers.headers)))
            }
        case .data(let data):
            guard machine.takesData, case .byteBuffer(let bytes) = data.data else { return }
            if bytes.readableBytes > 0 { connection.received(bytes) }
            if data.endStream { deliver(machine.receivedEnd()) }
        default: break
        }
    }

    private func deliver(_ delivery: HTTP2StreamMachine.Delivery) {
        switch delivery {
        case .nothing: break
        case .head(let head, let isWhole, let isClosed):
            connection.received(head: head, isWhole: isWhole)
            if isClosed { connection.inputClosed() }
        case .unreadableHead(let error, let isHead): connection.receivedUnreadableHead(error, isHead: isHead)
        case .end(let fault): connection.receivedEnd(fault)
        case .inputClosed: connection.inputClosed()
        }
    }

    // MARK: The answer

    /// Sends a 1xx answer.
    func writeInterim(_ head: AnswerHead) {
        guard let context, machine.takesInterim else { return }
        write(Self.fields(of: head), to: context)
    }

    /// Begins the answer.
    ///
    /// - Parameters:
    ///   - head: without the fields that frame the body.
    ///   - more: further fields.
    func start(_ head: AnswerHead, more: AnswerFields?, _ terms: ConnectionMachine.AnswerTerms) {
        guard let context else { return }
        let endsStream = terms.isHead || terms.framing == .none || terms.framing == .length(0)
        let start = machine.startAnswer(status: head.status, endsStream: endsStream)
        switch start {
        case .nothing: return
        case .refuseTunnel: return refuseTunnel(context)
        case .write, .hold: break
        }
        var fields = Self.fields(of: head)
        if case .length(let count) = terms.framing { fields.add(name: "content-length", value: String(count)) }
        for field in more?.pairs ?? [] { fields.add(name: field.name, value: field.value) }
        if start == .write {
            write(fields, to: context)
        } else {
            heldHead = .headers(.init(headers: fields, endStream: true))
        }
    }

    func write(body bytes: ByteBuffer) {
        guard let context, machine.takesBody else { return }
        context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(bytes)))), promise: nil)
    }

    /// Ends the answer.
    func end() {
        guard let context else { return }
        switch machine.finishAnswer() {
        case .none: break
        case .head: if let head = heldHead.take() { writeLast(context, head) }
        case .emptyData: writeLastData(context)
        }
    }

    /// Opens the tunnel.
    ///
    /// - Parameters:
    ///   - head: a 101 answer, which is 200 here.
    ///   - first: the first bytes in the tunnel.
    func switchProtocols(_ head: AnswerHead, _ first: ByteBuffer?) {
        guard let context, machine.openTunnel() else { return }
        write(Self.fields(of: head, status: 200), to: context)
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

    private func write(_ fields: HPACKHeaders, to context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.headers(.init(headers: fields, endStream: false))), promise: nil)
    }

    private func refuseTunnel(_ context: ChannelHandlerContext) {
        let fields: HPACKHeaders = [":status": "501", "content-length": "0", "cache-control": "no-store"]
        context.writeAndFlush(wrapOutboundOut(.headers(.init(headers: fields, endStream: true))), promise: nil)
        // The exchange that writes the answer is told that its client has gone, but not from within that write.
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.execute {
            let (stream, context) = bound.value
            context.writeAndFlush(stream.wrapOutboundOut(.rstStream(.noError)), promise: nil)
        }
    }

    private func writeLastData(_ context: ChannelHandlerContext) {
        writeLast(context, .data(.init(data: .byteBuffer(ByteBuffer()), endStream: true)))
    }

    private func writeLast(_ context: ChannelHandlerContext, _ frame: HTTP2Frame.FramePayload) {
        let written = context.eventLoop.makePromise(of: Void.self)
        lastFrame = written.futureResult
        let me = NIOLoopBound(self, eventLoop: context.eventLoop)
        written.futureResult.whenSuccess { me.value.machine.lastFrameSent() }
        context.writeAndFlush(wrapOutboundOut(frame), promise: written)
    }

    /// Writes bytes of the tunnel. Outside a tunnel, a promise tells when the answer has been sent: its last frame may
    /// have to wait until the client's window has room for it.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if machine.answer == .tunnel {
            context.write(wrapOutboundOut(.data(.init(data: .byteBuffer(unwrapOutboundIn(data))))), promise: promise)
        } else if let lastFrame {
            lastFrame.cascade(to: promise)
        } else {
            promise?.succeed()
        }
    }

    // MARK: The end

    /// Ends the stream for the connection.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch machine.close(outputOnly: mode == .output) {
        case .nothing: promise?.succeed()
        case .endTunnel(let closesSoon):
            writeLastData(context)
            promise?.succeed()
            if closesSoon { closeSoon(context) }
        case .close(let code):
            if let code { context.writeAndFlush(wrapOutboundOut(.rstStream(code)), promise: nil) }
            context.close(mode: .all, promise: promise)
        }
    }

    /// Closes when the last frame has been sent, or when the client's window stays too small for it.
    private func closeSoon(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        lastFrame?.whenComplete { _ in bound.value.close(promise: nil) }
        ConnectionDeadline.close(context.channel, after: .seconds(1), on: connection.deadlines)
    }
}
