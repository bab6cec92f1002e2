import EdgeCore
import NIOCore
import NIOHTTP2

/// Sees whether an HTTP/2 connection has been told goodbye (GOAWAY), which happens for faults of the connection alone.
///
/// Faults of single streams are reported just as those are, and nothing else tells them apart. A fault of the connection
/// is reported right behind its goodbye, so only the last piece written counts. A body might hold the same bytes in a
/// piece of its own: then a fault of a stream that is reported right behind it ends that connection, which harms nobody
/// else.
package final class GoodbyeWatch: ChannelOutboundHandler {
    package typealias OutboundIn = IOData
    package typealias OutboundOut = IOData

    /// The header of a GOAWAY frame without debug data, and how long that frame is.
    private static let header: [UInt8] = [0, 0, 8, 7, 0, 0, 0, 0, 0]
    private static let length = 17

    /// Whether the last piece written was a goodbye.
    private(set) var isSaid = false
    private var context: ChannelHandlerContext?

    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    package func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Closes the connection when everything that HTTP/2 has written has left.
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

    private static let patience = TimeAmount.milliseconds(200)

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .byteBuffer(let bytes) = unwrapOutboundIn(data) {
            isSaid = bytes.readableBytes == Self.length && bytes.readableBytesView.starts(with: Self.header)
        } else {
            isSaid = false
        }
        context.write(data, promise: promise)
    }
}

/// Closes an HTTP/2 connection that is of no more use: its peer has closed its side, has said that it makes no more
/// streams and has none left, has been told goodbye for a fault of the connection (RFC 9113 section 5.4.1), or goes on
/// making faults on its streams.
final class HTTP2ConnectionEnd: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    private static let maxFaults = 100
    private let goodbyes: GoodbyeWatch
    private let streams: StreamWatch
    private var faults = 0

    init(_ goodbyes: GoodbyeWatch, _ streams: StreamWatch) {
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
