import EdgeCore
import NIOCore
import NIOHTTP2

/// Closes an HTTP/2 connection whose peer has closed its side, has sent GOAWAY and has no streams left, has been sent
/// GOAWAY for a fault of the connection (RFC 9113 section 5.4.1), or goes on making faults on its streams.
final class HTTP2ConnectionEnd: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    private static let maxFaults = 100
    private let goAway: GoAwayObserver
    private let streams: HTTP2ConnectionCloser
    private var faults = 0

    init(_ goAway: GoAwayObserver, _ streams: HTTP2ConnectionCloser) {
        self.goAway = goAway
        self.streams = streams
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .goAway = unwrapInboundIn(data).payload { streams.clientSentGoAway() }
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
        if goAway.hasSentError || faults > Self.maxFaults { context.close(promise: nil) }
    }
}
