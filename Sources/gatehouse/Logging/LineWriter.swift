import Dispatch
import Glibc
import NIOCore
import Synchronization

/// Writes lines to a descriptor, one after the other, on a queue of its own: only that queue waits for a slow disk or
/// for a reader that does not read.
///
/// Several logs may share a writer, each through a ``LineQueue``, which bounds what waits here. Their lines do not mix.
final class LineWriter: Sendable {
    /// Whole lines of one log.
    struct Part: Sendable {
        /// Each with its newline.
        let lines: ByteBuffer
        /// Where they waited.
        let queue: LineQueue
    }

    /// What waits. Guarded by the lock.
    private struct State {
        /// In the order in which they are written.
        var waiting: [Part] = []
        /// Whether the queue has been told to write. It is told once, for all that comes meanwhile.
        var isScheduled = false
    }

    private let state = Mutex(State())
    /// Replaced when a log is rotated.
    private let descriptor: Atomic<Int32>
    /// False for standard output and standard error, which the process goes on with.
    private let isOwned: Bool
    /// Whether what was written last ended within a line. Used on the queue alone.
    private let endedWithinLine = Atomic<Bool>(false)
    private let queue: DispatchQueue

    /// - Parameters:
    ///   - isOwned: whether the writer closes the descriptor when it is done with it.
    ///   - name: a name for its queue, for debuggers.
    init(descriptor: Int32, isOwned: Bool = false, name: String) {
        self.descriptor = Atomic(descriptor)
        self.isOwned = isOwned
        queue = DispatchQueue(label: name)
    }

    deinit { if isOwned { Self.close(descriptor.load(ordering: .relaxed)) } }

    /// Adds lines behind those that wait. The queue that they come from is told when they are written.
    func add(_ part: Part) {
        let mustSchedule = state.withLock { state -> Bool in
            state.waiting.append(part)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { queue.async { self.flush() } }
    }

    /// Goes on with another descriptor, after what is being written. Only for a writer that owns its descriptor.
    ///
    /// - Parameter open: opens it, on the writer's queue; nil keeps the former one.
    func replace(_ open: @escaping @Sendable () -> Int32?) {
        queue.async { [self] in
            guard let next = open() else { return }
            Self.close(descriptor.exchange(next, ordering: .relaxed))
            endedWithinLine.store(false, ordering: .relaxed)
        }
    }

    /// Waits until everything is written, but no longer than so many milliseconds: the reader may never read.
    ///
    /// - Returns: whether everything is written, or given up as it can't be.
    @discardableResult
    func finish(within milliseconds: Int) -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async { [self] in
            flush()
            // The first may have added a line about lines that were dropped.
            flush()
            done.signal()
        }
        return done.wait(timeout: .now() + .milliseconds(milliseconds)) == .success
    }

    private static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }

    /// Writes what waits.
    private func flush() {
        // From the last to the first, so that each is freed once it is written.
        var parts = state.withLock { state -> [Part] in
            defer { state = State() }
            return state.waiting.reversed()
        }
        while let part = parts.popLast() {
            let failure = write(part.lines)
            part.queue.finished(part, failure)
        }
    }

    /// Writes lines; what could not be written, and why. Where the last write ended within a line, that line is ended
    /// first, so that it spoils no other.
    private func write(_ lines: ByteBuffer) -> LineQueue.Failure? {
        let descriptor = descriptor.load(ordering: .relaxed)
        if endedWithinLine.load(ordering: .relaxed) {
            guard Self.write(ByteBuffer(string: "\n"), to: descriptor).readableBytes == 0 else {
                let reason = FileBytes.reason(errno)
                return LineQueue.Failure(lines: Self.lines(in: lines), reason: reason)
            }
            endedWithinLine.store(false, ordering: .relaxed)
        }
        let rest = Self.write(lines, to: descriptor)
        guard rest.readableBytes > 0 else { return nil }
        let reason = FileBytes.reason(errno)
        let written = lines.readableBytes - rest.readableBytes
        if written > 0, lines.readableBytesView.prefix(written).last != UInt8(ascii: "\n") {
            endedWithinLine.store(true, ordering: .relaxed)
        }
        return LineQueue.Failure(lines: Self.lines(in: rest), reason: reason)
    }

    /// The number of complete lines.
    private static func lines(in buffer: ByteBuffer) -> Int {
        buffer.readableBytesView.lazy.filter { $0 == UInt8(ascii: "\n") }.count
    }

    /// Writes as much as the descriptor takes, and returns the rest. It waits for room, also where the descriptor does
    /// not block.
    private static func write(_ lines: ByteBuffer, to descriptor: Int32) -> ByteBuffer {
        var rest = lines
        while rest.readableBytes > 0 {
            let written = rest.withUnsafeReadableBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            if written < 0, errno == EAGAIN, Terminal.hasRoom(descriptor, within: -1) { continue }
            guard written > 0 else { break }
            rest.moveReaderIndex(forwardBy: written)
        }
        return rest
    }
}
