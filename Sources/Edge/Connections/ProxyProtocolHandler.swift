import EdgeCore
import HTTPWire
import NIOCore

/// Reads the PROXY protocol header of a new connection, then is replaced by the pipeline that serves it. Versions 1 and
/// 2 are read. A malformed header closes the connection: without it, nothing is known of the client.
final class ProxyProtocolHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let pending: PendingConnection
    /// Builds the rest of the pipeline for a client of this address; nil keeps the peer's own.
    private let serve: ([UInt8]?) throws -> Void
    private var buffer = ByteBuffer()
    private var isDone = false

    /// - Parameter serve: called once, when the header is complete. Where it throws, the connection is closed.
    init(_ pending: PendingConnection, serve: @escaping ([UInt8]?) throws -> Void) {
        self.pending = pending
        self.serve = serve
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // No more bytes will come, and the header is not complete.
        if !isDone, (event as? ChannelEvent) == .inputClosed { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    /// Collects the header, and passes on what comes after it.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if isDone { return context.fireChannelRead(data) }
        buffer.writeBuffer(&bytes)
        switch ProxyProtocol.read(&buffer) {
        case .needMoreData: return
        case .malformed: context.close(promise: nil)
        case .source(.unnamed): begin(context, nil)
        case .source(.bytes(let address)): begin(context, address)
        case .source(.text(let text)):
            guard let address = PackedAddress.bytes(of: text) else { return context.close(promise: nil) }
            begin(context, address)
        }
    }

    private func begin(_ context: ChannelHandlerContext, _ address: [UInt8]?) {
        isDone = true
        pending.end()
        do {
            try serve(address.flatMap(PackedAddress.canonical))
        } catch {
            return context.close(promise: nil)
        }
        if buffer.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(buffer)) }
        buffer = ByteBuffer()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
}
