import NIOCore

/// Holds back a long first head until the client has acknowledged the gateway's HTTP/2 settings.
///
/// SwiftNIO applies the settings when their acknowledgement arrives (RFC 9113 section 6.5.3). Until then it takes heads
/// up to 16 KiB and ends the connection for longer ones. A client's first request comes before the client has read the
/// settings, and its head may be as long as any other. So a head that may be too long waits here, with everything after
/// it, and the client's acknowledgement is passed on before it. No other head waits. If a client acknowledges nothing
/// within ``patience``, its bytes are passed on as they came, and SwiftNIO ends the connection. After the
/// acknowledgement this handler only passes bytes on.
final class SettingsWait: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Text of no more compressed bytes than this is less than 16 KiB long: Huffman's shortest code has five bits. A
    /// head of hundreds of references to HPACK's tables can be shorter and too long all the same; SwiftNIO ends the
    /// connection for one that comes first.
    private static let longest = 8 * 1024
    /// The most bytes that are held: when there are more, all of them are passed on as they came.
    private let maxHeld: Int

    private var borders = HTTP2FrameBorders()
    /// A long head and the bytes that came after it.
    private var held: ByteBuffer?
    private var isOver = false
    private var deadline: Scheduled<Void>?

    /// How long to wait for the acknowledgement: longer than a round trip by satellite.
    static let patience = TimeAmount.seconds(2)

    /// - Parameter maxHead: how long a head may be under the gateway's settings, in bytes.
    init(maxHead: Int) {
        // After the head there may be as many bytes of bodies as the first window of a connection allows, and some
        // frames.
        self.maxHeld = maxHead + 128 * 1024
    }

    /// Bytes that are passed on keep their order and their number; only the acknowledgement may overtake a head that
    /// waits.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        var out = context.channel.allocator.buffer(capacity: bytes.readableBytes + HTTP2FrameHeader.size)
        while !isOver, let piece = borders.next(&bytes) { take(piece, to: &out) }
        if let all = held, isOver || all.readableBytes > maxHeld {
            out.writeImmutableBuffer(all)
            out.writeImmutableBuffer(borders.partial)
            letGo()
        }
        if held != nil, deadline == nil { startWaiting(context) }
        out.writeBuffer(&bytes)
        if out.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(out)) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        letGo()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { letGo() }

    private func letGo() {
        isOver = true
        held = nil
        deadline?.cancel()
        deadline = nil
    }

    private func startWaiting(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: Self.patience) {
            let (wait, context) = bound.value
            guard var all = wait.held else { return }
            all.writeImmutableBuffer(wait.borders.partial)
            wait.letGo()
            context.fireChannelRead(wait.wrapInboundOut(all))
            context.fireChannelReadComplete()
        }
    }

    private func take(_ piece: HTTP2FrameBorders.Piece, to out: inout ByteBuffer) {
        switch piece {
        case .payload(let part): pass(part, to: &out)
        case .header(let frame, let bytes):
            if frame.kind == HTTP2FrameHeader.Kind.settings, frame.isAcknowledgement, frame.length == 0 {
                isOver = true
                out.writeImmutableBuffer(bytes)
                return
            }
            let isLong = frame.kind == HTTP2FrameHeader.Kind.headers && (frame.length > Self.longest || !frame.endsHead)
            if held == nil, isLong { held = ByteBuffer() }
            pass(bytes, to: &out)
        }
    }

    private func pass(_ bytes: ByteBuffer, to out: inout ByteBuffer) {
        if held == nil { out.writeImmutableBuffer(bytes) } else { held?.writeImmutableBuffer(bytes) }
    }
}
