/// Which streams of an HTTP/2 connection its client has opened, and on which of them it may still send.
///
/// Bounded: beyond that, older streams are forgotten, and a frame on one of them is not reported as late.
struct ClientStreams {
    /// More streams than a client may have at once, with room for those that the gateway has reset.
    static let maxOpen = 1024
    /// The most gaps in the numbers of the streams that are remembered. Clients count by two and leave none.
    static let maxSkipped = 64

    /// The highest stream that was opened.
    private var last: UInt32 = 0
    /// Those on which the client may still send.
    private var open: Set<UInt32> = []
    /// Those that were passed over: opening a stream closes all idle ones below it (RFC 9113 section 5.1.1).
    private var skipped: [ClosedRange<UInt32>] = []
    /// Nothing is known of this stream and those below it.
    private var forgotten: UInt32 = 0

    /// Takes note of a frame of the client. Where what was known has been forgotten, it is false.
    ///
    /// - Parameter frame: each header of the connection, in the order of arrival.
    /// - Returns: Whether it is HEADERS on a stream that the client had ended or reset.
    mutating func received(_ frame: HTTP2FrameHeader) -> Bool {
        switch frame.kind {
        case HTTP2FrameHeader.Kind.headers:
            // A client opens streams of odd numbers alone.
            guard frame.stream % 2 == 1 else { return false }
            if frame.stream > last {
                opened(frame.stream)
            } else if !open.contains(frame.stream) {
                return frame.stream > forgotten && !skipped.contains { $0.contains(frame.stream) }
            }
            if frame.endsStream { open.remove(frame.stream) }
        case HTTP2FrameHeader.Kind.data: if frame.endsStream { open.remove(frame.stream) }
        case HTTP2FrameHeader.Kind.reset: open.remove(frame.stream)
        default: break
        }
        return false
    }

    private mutating func opened(_ stream: UInt32) {
        let next = last == 0 ? 1 : last + 2
        if stream > next { skipped.append(next...stream - 2) }
        open.insert(stream)
        last = stream
        guard open.count > Self.maxOpen || skipped.count > Self.maxSkipped else { return }
        forgotten = last
        open = []
        skipped = []
    }
}
