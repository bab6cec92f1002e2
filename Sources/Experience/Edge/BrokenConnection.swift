import NIOCore
import NIOHTTP2

/// Sees whether an HTTP/2 connection has been told goodbye (GOAWAY), which happens for faults of the connection alone.
///
/// Faults of single streams are reported just as those are, and nothing else tells them apart. A fault of the connection
/// is reported right behind its goodbye, so only the last piece written counts. A body might hold the same bytes in a
/// piece of its own: then a fault of a stream that is reported right behind it ends that connection, which harms nobody
/// else.
final class GoodbyeWatch: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The header of a GOAWAY frame without debug data, and how long that frame is.
    private static let header: [UInt8] = [0, 0, 8, 7, 0, 0, 0, 0, 0]
    private static let length = 17

    /// Whether the last piece written was a goodbye.
    private(set) var isSaid = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .byteBuffer(let bytes) = unwrapOutboundIn(data) {
            isSaid = bytes.readableBytes == Self.length && bytes.readableBytesView.starts(with: Self.header)
        } else {
            isSaid = false
        }
        context.write(data, promise: promise)
    }
}

/// Closes an HTTP/2 connection that is of no more use: its peer has been told goodbye for a fault of the connection (RFC
/// 9113 section 5.4.1), or goes on making faults on its streams.
final class BrokenConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private static let maxFaults = 100
    private let goodbyes: GoodbyeWatch
    private var faults = 0

    init(_ goodbyes: GoodbyeWatch) { self.goodbyes = goodbyes }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        faults += 1
        // The goodbye has been flushed, and TLS closes in order: the peer can still read it.
        if goodbyes.isSaid || faults > Self.maxFaults { context.close(promise: nil) }
    }
}
