import NIOCore

/// Holds back a long first head until the client has acknowledged the gateway's HTTP/2 settings.
///
/// SwiftNIO applies the settings when their acknowledgement arrives (RFC 9113 section 6.5.3). Until then it takes heads
/// up to 16 KiB and ends the connection for longer ones. A client's first request comes before the client has read the
/// settings, and its head may be as long as any other. So a head that may be too long waits here, with everything after
/// it, and the client's acknowledgement is passed on before it. No other head waits. If a client acknowledges nothing
/// within ``patience``, its bytes are passed on as they came, and SwiftNIO ends the connection. After the acknowledgement
/// this handler only passes bytes on.
final class SettingsWait: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum Frame {
        static let headerLength = 9
        static let preface = 24
        static let headers: UInt8 = 1
        static let settings: UInt8 = 4
        /// ACK of SETTINGS.
        static let isAcknowledgement: UInt8 = 1
        static let endsHead: UInt8 = 4
    }

    /// Text of no more compressed bytes than this is less than 16 KiB long: Huffman's shortest code has five bits. A head
    /// of hundreds of references to HPACK's tables can be shorter and too long all the same; SwiftNIO ends the connection
    /// for one that comes first.
    private static let longest = 8 * 1024
    /// The most bytes that are held: when there are more, all of them are passed on as they came.
    private let maxHeld: Int

    /// Bytes up to the next frame header: the preface, or the rest of a frame.
    private var rest = Frame.preface
    /// The frame header that is arriving.
    private var header: [UInt8] = []
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

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        var out = context.channel.allocator.buffer(capacity: bytes.readableBytes + Frame.headerLength)
        while !isOver, bytes.readableBytes > 0 { advance(over: &bytes, to: &out) }
        if let all = held, isOver || all.readableBytes > maxHeld {
            out.writeImmutableBuffer(all)
            out.writeBytes(header)
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
        header = []
        deadline?.cancel()
        deadline = nil
    }

    private func startWaiting(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: Self.patience) {
            let (wait, context) = bound.value
            guard var all = wait.held else { return }
            all.writeBytes(wait.header)
            wait.letGo()
            context.fireChannelRead(wait.wrapInboundOut(all))
            context.fireChannelReadComplete()
        }
    }

    private func advance(over bytes: inout ByteBuffer, to out: inout ByteBuffer) {
        if rest > 0 {
            guard var part = bytes.readSlice(length: min(rest, bytes.readableBytes)) else { return }
            rest -= part.readableBytes
            if held == nil { out.writeBuffer(&part) } else { held?.writeBuffer(&part) }
            return
        }
        header += bytes.readBytes(length: min(Frame.headerLength - header.count, bytes.readableBytes)) ?? []
        guard header.count == Frame.headerLength else { return }
        frameBegan(&out)
        header.removeAll(keepingCapacity: true)
    }

    private func frameBegan(_ out: inout ByteBuffer) {
        let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        let (type, flags) = (header[3], header[4])
        rest = length
        if type == Frame.settings, flags & Frame.isAcknowledgement != 0, length == 0 {
            isOver = true
            out.writeBytes(header)
            return
        }
        if held == nil, type == Frame.headers, length > Self.longest || flags & Frame.endsHead == 0 {
            held = ByteBuffer()
        }
        if held == nil { out.writeBytes(header) } else { held?.writeBytes(header) }
    }
}
