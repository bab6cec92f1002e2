import NIOHTTP2

/// Notes whether an HTTP/2 connection has been sent GOAWAY with an error. SwiftNIO sends that for faults of the
/// connection alone, and reports these just as it reports faults of single streams. The GOAWAY of a stop names no
/// error: the streams under way go on.
final class GoAwayObserver: NIOHTTP2FrameDelegate {
    private(set) var hasSentError = false

    func wroteFrame(_ frame: HTTP2Frame) {
        if case .goAway(_, let code, _) = frame.payload, code != .noError { hasSentError = true }
    }
}
