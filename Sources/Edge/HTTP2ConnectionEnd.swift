import EdgeCore
import NIOCore
import NIOHTTP2

/// Closes an HTTP/2 connection whose peer has closed its side, has sent GOAWAY and has no streams left, has been sent
/// GOAWAY for a fault of the connection (RFC 9113 section 5.4.1), or goes on making faults on its streams.
final class HTTP2ConnectionEnd: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    private static let maxFaults = 100
    private let goodbyes: SentGoodbyes
    private let streams: StreamWatch
    private var faults = 0

    init(_ goodbyes: SentGoodbyes, _ streams: StreamWatch) {
        self.goodbyes = goodbyes
        self.streams = streams
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .goAway = unwrapInboundIn(data).payload { streams.clientLeaves() }
        context.fireChannelRead(data)
    }

    /// A client that has closed its side can't acknowledge frames or open windows any more: HTTP/2 has no half-closed
    /// connections, so every stream ends with the client's side.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { context.closeWithoutPeer() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        faults += 1
        // The GOAWAY has been flushed, and TLS closes properly: the peer can still read it.
        if goodbyes.isSaid || faults > Self.maxFaults { context.close(promise: nil) }
    }
}

/// Notes whether an HTTP/2 connection has been sent GOAWAY with an error. SwiftNIO sends that for faults of the connection
/// alone, and reports these just as it reports faults of single streams. The GOAWAY of a stop names no error: the streams
/// under way go on.
final class SentGoodbyes: NIOHTTP2FrameDelegate {
    private(set) var isSaid = false

    func wroteFrame(_ frame: HTTP2Frame) {
        if case .goAway(_, let code, _) = frame.payload, code != .noError { isSaid = true }
    }
}

/// Is placed below HTTP/2 in the pipeline, and closes the connection when everything that HTTP/2 has written has been
/// sent.
final class HTTP2Output: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// How long a peer may take to close its side.
    private static let patience = TimeAmount.milliseconds(200)

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Closes when everything written so far has been sent, and writes nothing after it.
    func closeBehindOutput() {
        guard let context else { return }
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer())), promise: written)
        let channel = context.channel
        written.futureResult.whenComplete { _ in
            channel.close(promise: nil)
            // TLS waits for the peer's close_notify, which a peer that has sent GOAWAY need not send.
            channel.eventLoop.scheduleTask(in: Self.patience) {
                if channel.isActive { channel.triggerUserOutboundEvent(TransportEnd(), promise: nil) }
            }
        }
    }
}
