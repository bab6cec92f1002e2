import NIOCore

/// Collects the lines of the access log that one event loop makes, and gives them to the sink together: with the next
/// tick of the loop, or as soon as they are many. Handing over wakes the thread that writes, which costs more than a
/// line does. Confined to its loop.
package final class AccessLogBuffer {
    /// The number of bytes at which the lines are handed over at once.
    private static let fullSize = 64 * 1024

    private let sink: any LineSink
    private let clock = LineClock()
    private var lines = ByteBuffer()
    private var count = 0
    private var isLast = false

    init(sink: any LineSink) { self.sink = sink }

    /// Adds a line behind those that wait.
    func add(_ line: AccessLine) {
        if lines.capacity == 0 { lines.reserveCapacity(Self.fullSize + 4 * 1024) }
        line.write(to: &lines, clock)
        count += 1
        if isLast || lines.readableBytes >= Self.fullSize { flush() }
    }

    /// Gives the sink what waits. To be called with each tick of the loop.
    package func flush() {
        guard count > 0 else { return }
        let (full, number) = (lines, count)
        lines = ByteBuffer()
        count = 0
        sink.take(full, count: number)
    }

    /// The loop ticks no more: each line is handed over at once from here on.
    package func finish() {
        isLast = true
        flush()
    }
}
