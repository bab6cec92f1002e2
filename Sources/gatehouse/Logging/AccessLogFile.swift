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
    private struct State {
        var waiting: [ByteBuffer] = []
        var waitingBytes = 0
        var waitingLines = 0
        var isScheduled = false
    }

    /// The number of bytes that may wait to be written.
    private static let longestQueue = 8 << 20

    private let path: String?
    private let state = Mutex(State())
    private let descriptor: Mutex<Int32>
    private let hasFailed = Atomic<Bool>(false)
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

    private static func open(_ path: String) throws(CommandFailure) -> Int32 {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure("log.access: \(path): \(FileBytes.reason(errno)): create its directory, or correct it")
        }
        return descriptor
    }

    func take(_ lines: ByteBuffer, count: Int) {
        let place = state.withLock { state -> (isTaken: Bool, mustSchedule: Bool) in
            guard state.waitingBytes + lines.readableBytes <= Self.longestQueue else { return (false, false) }
            state.waiting.append(lines)
            state.waitingBytes += lines.readableBytes
            state.waitingLines += count
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
            } catch {
                logger.error("the access log can't be opened again", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// Writes what waits, and returns when it is written. To be called last.
    func close() { queue.sync { flush() } }

    private func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }

    private func flush() {
        let (buffers, lines) = state.withLock { state in
            defer { state = State() }
            return (state.waiting, state.waitingLines)
        }
        let descriptor = descriptor.withLock { $0 }
        for buffer in buffers where !Self.write(buffer, to: descriptor) {
            let reason = FileBytes.reason(errno)
            dropped(lines)
            if !hasFailed.exchange(true, ordering: .relaxed) {
                logger.error("the access log can't be written: lines are dropped", metadata: ["reason": "\(reason)"])
            }
            return
        }
        if !buffers.isEmpty, hasFailed.exchange(false, ordering: .relaxed) {
            logger.notice("the access log is written again")
        }
    }

    private static func write(_ buffer: ByteBuffer, to descriptor: Int32) -> Bool {
        var rest = buffer
        while rest.readableBytes > 0 {
            let written = rest.withUnsafeReadableBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            rest.moveReaderIndex(forwardBy: written)
        }
        return true
    }
}
