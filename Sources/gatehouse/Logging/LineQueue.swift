import Edge
import NIOCore
import Synchronization

/// The lines of one log on their way to a ``LineWriter``.
///
/// Nobody who logs waits. When so many bytes wait that a line does not fit, it and all that follow are dropped and
/// counted, until everything that waits is written: then it is said how many there were, in their place.
final class LineQueue: LineSink {
    /// Lines that could not be written.
    struct Failure: Sendable {
        /// How many, all of one part or what was left of it.
        let lines: Int
        /// What the system says, such as that the disk is full.
        let reason: String
    }

    /// What is done about dropped lines. These are called on any thread, with the queue's lock held for `resumed`: none
    /// of them may log into the same queue.
    struct Reports: Sendable {
        /// Lines were dropped: so many.
        var dropped: @Sendable (Int) -> Void = { _ in }
        /// Lines can't be written, for this reason. Called for the first of several failures.
        var failed: @Sendable (String) -> Void = { _ in }
        /// Lines are written again, after so many that were not. What it returns, a line without its newline, is
        /// written where they are missing.
        var resumed: @Sendable (Int) -> String? = { _ in nil }
    }

    /// The number of bytes that may wait to be written unless told otherwise.
    static let usualLimit = 8 << 20

    /// What waits, and what was dropped. Guarded by the lock.
    private struct State {
        /// Of all lines that are with the writer.
        var waitingBytes = 0
        /// Lines that were dropped since ``Reports/resumed`` was called last.
        var lost = 0
        /// Whether lines are dropped until nothing waits any more.
        var isFull = false
        /// Whether the last part could not be written.
        var hasFailed = false
    }

    /// May be shared with other logs.
    let writer: LineWriter
    /// How many bytes may wait.
    private let limit: Int
    private let reports: Reports
    private let state = Mutex(State())

    /// - Parameter limit: the number of bytes that may wait to be written.
    init(_ writer: LineWriter, limit: Int = LineQueue.usualLimit, reports: Reports = Reports()) {
        self.writer = writer
        self.limit = limit
        self.reports = reports
    }

    /// Queues lines, or drops and counts them.
    func take(_ lines: ByteBuffer, count: Int) {
        let isTaken = state.withLock { state -> Bool in
            guard !state.isFull, state.waitingBytes + lines.readableBytes <= limit else {
                // With nothing that waits, the line itself is too long.
                state.isFull = state.waitingBytes > 0
                state.lost += count
                return false
            }
            add(lines, &state)
            return true
        }
        if !isTaken { reports.dropped(count) }
    }

    /// Queues one line, with its newline.
    func take(line: String) { take(ByteBuffer(string: line), count: 1) }

    /// Adds lines, for which there is room or which must not be dropped.
    private func add(_ lines: ByteBuffer, _ state: inout State) {
        state.waitingBytes += lines.readableBytes
        writer.add(LineWriter.Part(lines: lines, queue: self))
    }

    /// Called by the writer when lines are written, or can't be.
    func finished(_ part: LineWriter.Part, _ failure: Failure?) {
        if let failure { reports.dropped(failure.lines) }
        let isFirstFailure = state.withLock { state -> Bool in
            state.waitingBytes -= part.lines.readableBytes
            if state.waitingBytes == 0 { state.isFull = false }
            if let failure {
                state.lost += failure.lines
                defer { state.hasFailed = true }
                return !state.hasFailed
            }
            state.hasFailed = false
            guard !state.isFull, state.lost > 0 else { return false }
            let lost = state.lost
            state.lost = 0
            if let line = reports.resumed(lost) { add(ByteBuffer(string: line + "\n"), &state) }
            return false
        }
        if isFirstFailure, let failure { reports.failed(failure.reason) }
    }
}
