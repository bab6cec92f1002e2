import Dispatch
import Edge
import Glibc
import Logging
import NIOCore
import Synchronization

/// The file of the access log, or standard error.
///
/// Lines are written on a queue of its own, many at once. When the file cannot be written as fast as lines come, or not
/// at all, lines are dropped and counted: no request waits for its line.
final class AccessLogFile: LineSink {
    /// What waits for the writer. Guarded by the lock.
    private struct State {
        var waiting: [(lines: ByteBuffer, count: Int)] = []
        var waitingBytes = 0
        var isScheduled = false
    }

    /// The number of bytes that may wait to be written.
    private static let longestQueue = 8 << 20

    private let path: String?
    private let state = Mutex(State())
    private let descriptor: Mutex<Int32>
    private let hasFailed = Atomic<Bool>(false)
    /// Whether what was written last ended within a line. Used by the queue alone.
    private let endedWithinLine = Atomic<Bool>(false)
    private let queue = DispatchQueue(label: "gatehouse.access-log")
    private let logger: Logger
    private let dropped: @Sendable (Int) -> Void

    /// Opens or creates the file, with mode 0600.
    ///
    /// - Parameters:
    ///   - place: the value of `log.access`: a path, or `stderr`.
    ///   - dropped: told how many lines were dropped.
    init(_ place: String, logger: Logger, dropped: @escaping @Sendable (Int) -> Void) throws(CommandFailure) {
        path = place == "stderr" ? nil : place
        self.logger = logger
        self.dropped = dropped
        descriptor = Mutex(try path.map { path throws(CommandFailure) in try Self.open(path) } ?? STDERR_FILENO)
    }

    deinit { if path != nil { descriptor.withLock { close($0) } } }

    /// Opens the file to append to it, and makes it if it does not exist.
    private static func open(_ path: String) throws(CommandFailure) -> Int32 {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure("log.access: \(path): \(FileBytes.reason(errno)): create its directory, or correct it")
        }
        return descriptor
    }

    /// Queues lines. They are dropped, and counted, where ``longestQueue`` bytes wait already.
    func take(_ lines: ByteBuffer, count: Int) {
        let place = state.withLock { state -> (isTaken: Bool, mustSchedule: Bool) in
            guard state.waitingBytes + lines.readableBytes <= Self.longestQueue else { return (false, false) }
            state.waiting.append((lines, count))
            state.waitingBytes += lines.readableBytes
            defer { state.isScheduled = true }
            return (true, !state.isScheduled)
        }
        if !place.isTaken { dropped(count) }
        if place.mustSchedule { queue.async { self.flush() } }
    }

    /// Opens the file again by its name, after it was moved away. What waits goes into the new one.
    func reopen() {
        guard let path else { return }
        queue.async { [self] in
            do throws(CommandFailure) {
                let next = try Self.open(path)
                let old = descriptor.withLock { current in
                    defer { current = next }
                    return current
                }
                close(old)
                endedWithinLine.store(false, ordering: .relaxed)
            } catch {
                logger.error("the access log can't be opened again", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// Writes what waits, and returns when it is written. To be called last.
    func close() { queue.sync { flush() } }

    private func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }

    /// Writes what waits, and counts what can't be written as dropped.
    private func flush() {
        let waiting = state.withLock { state in
            defer { state = State() }
            return state.waiting
        }
        let descriptor = descriptor.withLock { $0 }
        for (index, part) in waiting.enumerated() {
            let rest = write(part.lines, to: descriptor)
            guard rest.readableBytes > 0 else { continue }
            let reason = FileBytes.reason(errno)
            dropped(waiting[(index + 1)...].reduce(Self.lines(in: rest)) { $0 + $1.count })
            if !hasFailed.exchange(true, ordering: .relaxed) {
                logger.error("the access log can't be written: lines are dropped", metadata: ["reason": "\(reason)"])
            }
            return
        }
        if !waiting.isEmpty, hasFailed.exchange(false, ordering: .relaxed) {
            logger.notice("the access log is written again")
        }
    }

    /// The number of complete lines.
    private static func lines(in buffer: ByteBuffer) -> Int {
        buffer.readableBytesView.lazy.filter { $0 == UInt8(ascii: "\n") }.count
    }

    /// Writes what the file takes, and returns the rest. Where the last write ended within a line, that line is ended
    /// first, so that it spoils no other.
    private func write(_ lines: ByteBuffer, to descriptor: Int32) -> ByteBuffer {
        var rest = lines
        if endedWithinLine.load(ordering: .relaxed) {
            guard Self.write(ByteBuffer(string: "\n"), to: descriptor).readableBytes == 0 else { return rest }
            endedWithinLine.store(false, ordering: .relaxed)
        }
        rest = Self.write(lines, to: descriptor)
        let written = lines.readableBytes - rest.readableBytes
        if written > 0, lines.readableBytesView.prefix(written).last != UInt8(ascii: "\n") {
            endedWithinLine.store(true, ordering: .relaxed)
        }
        return rest
    }

    /// Writes as much as the file takes, and returns the rest.
    private static func write(_ lines: ByteBuffer, to descriptor: Int32) -> ByteBuffer {
        var rest = lines
        while rest.readableBytes > 0 {
            let written = rest.withUnsafeReadableBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { break }
            rest.moveReaderIndex(forwardBy: written)
        }
        return rest
    }
}
