import EdgeCore
import NIOCore
import NIOHTTP2

/// Closes an HTTP/2 connection that is of no more use: its peer has closed its side, has said that it makes no more
/// streams and has none left, has been told goodbye for a fault of the connection (RFC 9113 section 5.4.1), or goes on
/// making faults on its streams.
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

    /// A client that sends nothing more can't acknowledge or make room for anything either: HTTP/2 knows no half-closed
    /// connection, so every stream ends with it.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { context.closeWithoutPeer() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        faults += 1
        // The goodbye has been flushed, and TLS closes in order: the peer can still read it.
        if goodbyes.isSaid || faults > Self.maxFaults { context.close(promise: nil) }
    }
}

/// Notes whether an HTTP/2 connection has been sent GOAWAY. SwiftNIO sends it for faults of the connection alone, and
/// reports these just as it reports faults of single streams.
final class SentGoodbyes: NIOHTTP2FrameDelegate {
    private(set) var isSaid = false

    func wroteFrame(_ frame: HTTP2Frame) {
        if case .goAway = frame.payload { isSaid = true }
    }
}

/// Stands below HTTP/2 and closes the connection when everything that HTTP/2 has written has left.
final class HTTP2Output: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// How long a peer that is being closed has for its own part in that.
    private static let patience = TimeAmount.milliseconds(200)

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Writes nothing behind what was written, and closes when that has left.
    func closeBehindOutput() {
        guard let context else { return }
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer())), promise: written)
        let channel = context.channel
        written.futureResult.whenComplete { _ in
            channel.close(promise: nil)
            // TLS waits for the peer's close_notify, which a peer that has said goodbye need not send.
            channel.eventLoop.scheduleTask(in: Self.patience) {
                if channel.isActive { channel.triggerUserOutboundEvent(TransportEnd(), promise: nil) }
            }
        }
    }
}
