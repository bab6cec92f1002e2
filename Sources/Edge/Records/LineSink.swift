import NIOCore

/// Writes lines somewhere, without ever making the caller wait. Safe from any thread.
package protocol LineSink: Sendable {
    /// Takes whole lines, each with its newline.
    ///
    /// - Parameter count: how many lines there are.
    func take(_ lines: ByteBuffer, count: Int)
}

/// Collects the lines of the access log that one event loop makes while it processes what has arrived, and gives them
/// to the sink together. Confined to its loop.
final class AccessLogBuffer {
    /// With so many bytes the lines are given away at once.
    private static let fullSize = 64 * 1024

    private let loop: any EventLoop
    private let sink: any LineSink
    private let clock = LineClock()
    private var lines = ByteBuffer()
    private var count = 0
    private var isScheduled = false

    init(loop: any EventLoop, sink: any LineSink) {
        self.loop = loop
        self.sink = sink
    }

    /// Lines of one turn of the loop are given to the sink together, in their order.
    func add(_ line: AccessLine) {
        line.write(to: &lines, clock)
        count += 1
        if lines.readableBytes >= Self.fullSize { return giveAway() }
        guard !isScheduled else { return }
        isScheduled = true
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.execute {
            bound.value.isScheduled = false
            bound.value.giveAway()
        }
    }

    private func giveAway() {
        guard count > 0 else { return }
        let (full, number) = (lines, count)
        lines = ByteBuffer()
        count = 0
        sink.take(full, count: number)
    }
}
