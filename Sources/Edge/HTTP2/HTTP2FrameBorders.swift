import NIOCore

/// Finds the frames in the bytes of a client's HTTP/2 connection, however they are cut. Frames are not checked:
/// SwiftNIO does that with the same bytes.
struct HTTP2FrameBorders {
    enum Piece {
        /// A part of a frame's payload, or of the connection's preface.
        case payload(ByteBuffer)
        /// A frame begins.
        ///
        /// - Parameter bytes: the header as it came.
        case header(HTTP2FrameHeader, bytes: ByteBuffer)
    }

    private static let preface = 24

    /// How many bytes come before the next header.
    private var rest = Self.preface
    /// What has arrived of a header that comes in pieces.
    private(set) var partial = ByteBuffer()

    /// Takes the next piece; nil where more bytes are needed.
    ///
    /// - Parameter bytes: what it returns is taken from these; the rest stays for the next call.
    mutating func next(_ bytes: inout ByteBuffer) -> Piece? {
        if rest > 0 {
            guard bytes.readableBytes > 0, let part = bytes.readSlice(length: min(rest, bytes.readableBytes)) else {
                return nil
            }
            rest -= part.readableBytes
            return .payload(part)
        }
        guard let whole = nextHeader(&bytes), let header = HTTP2FrameHeader(whole) else { return nil }
        rest = header.length
        return .header(header, bytes: whole)
    }

    private mutating func nextHeader(_ bytes: inout ByteBuffer) -> ByteBuffer? {
        if partial.readableBytes == 0, let whole = bytes.readSlice(length: HTTP2FrameHeader.size) { return whole }
        let missing = HTTP2FrameHeader.size - partial.readableBytes
        guard var part = bytes.readSlice(length: min(missing, bytes.readableBytes)) else { return nil }
        partial.writeBuffer(&part)
        guard partial.readableBytes == HTTP2FrameHeader.size else { return nil }
        let whole = partial
        partial = ByteBuffer()
        return whole
    }
}
