import NIOCore

/// Puts our own HTTP/2 settings in force when the client's have arrived, and not only when it has acknowledged ours.
///
/// Until then SwiftNIO takes heads of no more than 16 KiB and ends the connection for longer ones. A client's first
/// request comes before it has read our settings, and may carry as long a head as any (RFC 9113 section 6.5.3 lets us be
/// more generous than we have said). So the acknowledgement is told early, and the client's own is read over.
final class EarlySettings: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum Frame {
        static let headerLength = 9
        static let settings: UInt8 = 4
        static let isAcknowledgement: UInt8 = 1
        static let acknowledgement: [UInt8] = [0, 0, 0, settings, isAcknowledgement, 0, 0, 0, 0]
    }

    private enum Step {
        /// The client's preface, then its SETTINGS, are on their way.
        case beginning
        /// Inside the client's first SETTINGS.
        case settings
        /// The client's acknowledgement is awaited.
        case told
        case done
    }

    private var step = Step.beginning
    /// Bytes that belong to what was begun: the preface of 24 bytes, or a frame's payload.
    private var rest = 24
    /// The frame header that is arriving.
    private var header: [UInt8] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard step != .done else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        var out = context.channel.allocator.buffer(capacity: bytes.readableBytes + 2 * Frame.headerLength)
        while step != .done, bytes.readableBytes > 0 { advance(over: &bytes, to: &out) }
        out.writeBuffer(&bytes)
        if out.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(out)) }
    }

    private func advance(over bytes: inout ByteBuffer, to out: inout ByteBuffer) {
        if rest > 0 {
            if var part = bytes.readSlice(length: min(rest, bytes.readableBytes)) {
                rest -= part.readableBytes
                out.writeBuffer(&part)
            }
            if rest == 0 { frameEnded(&out) }
            return
        }
        let missing = Frame.headerLength - header.count
        header += bytes.readBytes(length: min(missing, bytes.readableBytes)) ?? []
        if header.count == Frame.headerLength { frameBegan(&out) }
    }

    private func frameBegan(_ out: inout ByteBuffer) {
        let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        let isSettings = header[3] == Frame.settings
        let isAcknowledgement = isSettings && header[4] & Frame.isAcknowledgement != 0
        rest = length
        switch step {
        case .beginning where isSettings && !isAcknowledgement:
            step = .settings
        case .beginning:
            // No HTTP/2: whoever reads it next says so.
            step = .done
        case .told where isAcknowledgement && length == 0:
            header = []
            step = .done
            return
        case .settings, .told, .done: break
        }
        out.writeBytes(header)
        header = []
        if rest == 0 { frameEnded(&out) }
    }

    private func frameEnded(_ out: inout ByteBuffer) {
        guard step == .settings else { return }
        step = .told
        out.writeBytes(Frame.acknowledgement)
    }
}
