import NIOCore

/// Sends the right error for HEADERS on a stream that the client had already ended: STREAM_CLOSED (RFC 9113 section
/// 5.1).
///
/// SwiftNIO refuses them with PROTOCOL_ERROR: it resets the stream while the answer is being sent, and ends the
/// connection after that. This handler tracks the borders of the client's frames and changes the code of that refusal.
final class LateHeaders: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private enum Frame {
        static let headerLength = 9
        static let preface = 24
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let reset: UInt8 = 3
        static let goodbye: UInt8 = 7
        static let endsStream: UInt8 = 1
        static let protocolError: UInt32 = 1
        static let streamClosed: UInt32 = 5
    }

    /// More streams than a client may have at once, with room for those that are closing.
    private static let maxStreams = 1024
    private static let maxLate = 64

    /// Bytes up to the next frame header: the preface, or the rest of a frame.
    private var rest = Frame.preface
    /// The frame header that is arriving, where it comes in pieces.
    private var header: [UInt8] = []
    /// The highest stream the client has opened.
    private var last: UInt32 = 0
    /// Streams the client has opened and may still send on.
    private var open: Set<UInt32> = []
    /// Streams with HEADERS that came too late and have not been refused yet.
    private var late: Set<UInt32> = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        look(at: unwrapInboundIn(data))
        context.fireChannelRead(data)
    }

    private func look(at bytes: ByteBuffer) {
        var bytes = bytes
        while bytes.readableBytes > 0 {
            if rest > 0 {
                let step = min(rest, bytes.readableBytes)
                bytes.moveReaderIndex(forwardBy: step)
                rest -= step
                continue
            }
            header += bytes.readBytes(length: min(Frame.headerLength - header.count, bytes.readableBytes)) ?? []
            guard header.count == Frame.headerLength else { return }
            frameBegan()
            header.removeAll(keepingCapacity: true)
        }
    }

    private func frameBegan() {
        rest = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        let stream = Self.number(header[5...8]) & 0x7fff_ffff
        let endsStream = header[4] & Frame.endsStream != 0
        switch header[3] {
        case Frame.headers:
            if stream > last {
                last = stream
                if !endsStream, open.count < Self.maxStreams { open.insert(stream) }
            } else if !open.contains(stream) {
                if late.count < Self.maxLate, open.count < Self.maxStreams { late.insert(stream) }
            } else if endsStream {
                open.remove(stream)
            }
        case Frame.data: if endsStream { open.remove(stream) }
        case Frame.reset: open.remove(stream)
        default: break
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(let bytes) = unwrapOutboundIn(data), let corrected = refusal(bytes) else {
            return context.write(data, promise: promise)
        }
        context.write(wrapOutboundOut(.byteBuffer(corrected)), promise: promise)
    }

    /// A refusal of late HEADERS with its right code; nil for anything else. SwiftNIO writes each of these frames in one
    /// piece.
    private func refusal(_ bytes: ByteBuffer) -> ByteBuffer? {
        let start = bytes.readerIndex
        guard bytes.readableBytes >= 13, let length = bytes.getInteger(at: start, as: UInt32.self),
            let stream = bytes.getInteger(at: start + 5, as: UInt32.self)
        else { return nil }
        let codeAt: Int
        switch (length, bytes.readableBytes) {
        case (4 << 8 | UInt32(Frame.reset), 13):
            open.remove(stream)
            guard late.remove(stream) != nil else { return nil }
            codeAt = start + 9
        case (8 << 8 | UInt32(Frame.goodbye), 17):
            guard !late.isEmpty, stream == 0 else { return nil }
            late = []
            codeAt = start + 13
        default: return nil
        }
        guard bytes.getInteger(at: codeAt, as: UInt32.self) == Frame.protocolError else { return nil }
        var corrected = bytes
        corrected.setInteger(Frame.streamClosed, at: codeAt)
        return corrected
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
