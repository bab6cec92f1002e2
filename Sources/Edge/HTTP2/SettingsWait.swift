import NIOCore
import NIOHPACK

/// Holds back a long first head until the client has acknowledged the gateway's HTTP/2 settings.
///
/// SwiftNIO applies the settings when their acknowledgement arrives (RFC 9113 section 6.5.3). Until then it takes heads
/// up to 16 KiB and ends the connection for longer ones. A client's first request comes before the client has read the
/// settings, and its head may be as long as any other. So a head that is too long for that waits here, with everything
/// after it, and the client's acknowledgement is passed on before it. No other head waits. If a client acknowledges nothing
/// within ``patience``, its bytes are passed on as they came, and SwiftNIO ends the connection. After the
/// acknowledgement this handler only passes bytes on.
final class SettingsWait: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// A head of no more compressed bytes than this is not looked at. Each of its bytes can stand for at most 60 of a head as
    /// RFC 9113 section 6.5.2 counts them, but for references to what the head itself has put into HPACK's table.
    private static let short = 256
    /// A head of more compressed bytes than this waits in any case. A shorter one is decoded, to see how long it is: each
    /// of its fields counts 32 bytes more than it has.
    private static let longest = 8 * 1024
    /// The most bytes that are held: when there are more, all of them are passed on as they came.
    private let maxHeld: Int

    private enum State {
        /// No long head has come: all bytes are looked at and passed on.
        case passing
        /// A long head waits, with everything after it.
        case holding(HeldHead)
        /// The settings were acknowledged, or the waiting was given up: nothing waits any more.
        case over
    }

    private var borders = HTTP2FrameBorders()
    private var state = State.passing

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
        if isOver { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        var out = context.channel.allocator.buffer(capacity: bytes.readableBytes + HTTP2FrameHeader.size)
        while !isOver, let piece = borders.next(&bytes) { take(piece, to: &out) }
        if case .holding(let held) = state {
            if held.bytes.readableBytes > maxHeld { letGo(to: &out) } else { startWaiting(held, context) }
        }
        out.writeBuffer(&bytes)
        if out.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(out)) }
    }

    /// Drops what is held.
    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    /// Drops what is held.
    func handlerRemoved(context: ChannelHandlerContext) { end() }

    private var isOver: Bool {
        if case .over = state { true } else { false }
    }

    private func end() {
        if case .holding(let held) = state { held.deadline?.cancel() }
        state = .over
    }

    /// Passes on what is held, and from now on everything.
    private func letGo(to out: inout ByteBuffer) {
        if case .holding(let held) = state {
            out.writeImmutableBuffer(held.bytes)
            out.writeImmutableBuffer(borders.partial)
        }
        end()
    }

    private func startWaiting(_ held: HeldHead, _ context: ChannelHandlerContext) {
        guard held.deadline == nil else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        held.deadline = context.eventLoop.scheduleTask(in: Self.patience) {
            let (wait, context) = bound.value
            guard case .holding = wait.state else { return }
            var all = ByteBuffer()
            wait.letGo(to: &all)
            context.fireChannelRead(wait.wrapInboundOut(all))
            context.fireChannelReadComplete()
        }
    }

    private func take(_ piece: HTTP2FrameBorders.Piece, to out: inout ByteBuffer) {
        switch piece {
        case .payload(let part):
            pass(part, to: &out)
            decide(with: part, to: &out)
        case .header(let frame, let bytes):
            if frame.kind == HTTP2FrameHeader.Kind.settings, frame.isAcknowledgement, frame.length == 0 {
                out.writeImmutableBuffer(bytes)
                return letGo(to: &out)
            }
            if case .passing = state, frame.kind == HTTP2FrameHeader.Kind.headers {
                if frame.length > Self.longest || !frame.endsHead {
                    state = .holding(HeldHead())
                } else if frame.length > Self.short {
                    state = .holding(HeldHead(HTTP2HeadBlock(frame)))
                }
            }
            pass(bytes, to: &out)
        }
    }

    private func pass(_ bytes: ByteBuffer, to out: inout ByteBuffer) {
        if case .holding(let held) = state {
            held.bytes.writeImmutableBuffer(bytes)
        } else {
            out.writeImmutableBuffer(bytes)
        }
    }

    /// Passes on a head that turns out not to be too long.
    private func decide(with part: ByteBuffer, to out: inout ByteBuffer) {
        guard case .holding(let held) = state, held.undecided?.append(part) == true,
            let fits = held.undecided?.fits(in: HPACKDecoder.defaultMaxHeaderListSize)
        else { return }
        held.undecided = nil
        guard fits else { return }
        out.writeImmutableBuffer(held.bytes)
        held.deadline?.cancel()
        state = .passing
    }
}

/// A long head that waits, and the bytes that came after it. An object, so that bytes are added without a copy of those
/// that are there.
private final class HeldHead {
    var bytes = ByteBuffer()
    /// The head, while it is not known whether it is too long.
    var undecided: HTTP2HeadBlock?
    /// The end of the wait; set at the end of the read with which it began.
    var deadline: Scheduled<Void>?

    init(_ undecided: HTTP2HeadBlock? = nil) { self.undecided = undecided }
}

/// The field block of a HEADERS frame that arrives in pieces (RFC 9113 section 6.2).
private struct HTTP2HeadBlock {
    private let frame: HTTP2FrameHeader
    private var payload = ByteBuffer()

    init(_ frame: HTTP2FrameHeader) { self.frame = frame }

    /// Adds a part of the payload. Returns whether it is whole.
    mutating func append(_ part: ByteBuffer) -> Bool {
        payload.writeImmutableBuffer(part)
        return payload.readableBytes >= frame.length
    }

    /// Whether the head has no more bytes than this, as RFC 9113 section 6.5.2 counts them. False where it can't be read.
    func fits(in limit: Int) -> Bool {
        var block = payload
        if frame.isPadded {
            guard let padding = block.readInteger(as: UInt8.self), Int(padding) <= block.readableBytes else {
                return false
            }
            block.moveWriterIndex(to: block.writerIndex - Int(padding))
        }
        if frame.hasPriority {
            guard block.readSlice(length: 5) != nil else { return false }
        }
        var decoder = HPACKDecoder(
            allocator: ByteBufferAllocator(), maxDynamicTableSize: HPACKDecoder.maxDynamicTableSize,
            maxHeaderListSize: limit)
        return (try? decoder.decodeHeaders(from: &block)) != nil
    }
}
