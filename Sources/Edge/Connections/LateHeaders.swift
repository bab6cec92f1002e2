import NIOCore
import NIOHTTP2

/// Ends an HTTP/2 connection whose client sends HEADERS on a stream that it had ended or reset, with GOAWAY and
/// STREAM_CLOSED.
///
/// That is the error for a closed stream (RFC 9113 section 5.1). For one that is still being answered an error of the
/// stream would do, which every endpoint may treat as one of the connection (section 5.4). SwiftNIO refuses both with
/// PROTOCOL_ERROR and can't be told otherwise, so the gateway sends GOAWAY before SwiftNIO sees such a frame. The frame
/// can't be skipped, since the state of the field compression is in it: that is why the connection ends with it.
///
/// Is placed below HTTP/2 in the pipeline.
final class LateHeaders: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var borders = HTTP2FrameBorders()
    private var streams = ClientStreams()
    private var isOver = false

    /// Passes the bytes on as they came, up to the late frame; that frame and everything after it is dropped.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        let bytes = unwrapInboundIn(data)
        guard let count = lengthBeforeLateHeaders(in: bytes) else { return context.fireChannelRead(data) }
        isOver = true
        if count > 0, let before = bytes.getSlice(at: bytes.readerIndex, length: count) {
            context.fireChannelRead(wrapInboundOut(before))
        }
        let channel = context.channel
        // What came before may have ended the connection.
        guard channel.isActive else { return }
        channel.writeAndFlush(
            HTTP2Frame(
                streamID: .rootStream,
                payload: .goAway(lastStreamID: .maxID, errorCode: .streamClosed, opaqueData: nil)),
            promise: nil)
        channel.close(promise: nil)
    }

    /// How many of the bytes come before the header of a late frame; nil where there is none.
    private func lengthBeforeLateHeaders(in bytes: ByteBuffer) -> Int? {
        var unread = bytes
        while true {
            let start = unread.readerIndex
            guard let piece = borders.next(&unread) else { return nil }
            if case .header(let frame, _) = piece, streams.received(frame) { return start - bytes.readerIndex }
        }
    }
}
