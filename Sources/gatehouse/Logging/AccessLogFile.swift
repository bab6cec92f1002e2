import Edge
import Glibc
import Logging
import NIOCore

/// The file of the access log, or standard error.
///
/// Lines are written on a queue of its own, many at once. When the file cannot be written as fast as lines come, or not
/// at all, lines are dropped and counted: no request waits for its line.
final class AccessLogFile: LineSink {
    private let path: String?
    private let queue: LineQueue
    private let logger: Logger

    /// Opens or creates the file, with mode 0600.
    ///
    /// - Parameters:
    ///   - place: the value of `log.access`: a path, or `stderr`.
    ///   - errors: what writes to standard error, so that lines of the log and of the access log do not mix there.
    ///   - dropped: told how many lines were dropped.
    init(
        _ place: String, errors: LineWriter? = nil, logger: Logger, dropped: @escaping @Sendable (Int) -> Void
    ) throws(CommandFailure) {
        let writer: LineWriter
        if place == "stderr" {
            path = nil
            writer = errors ?? LineWriter(descriptor: STDERR_FILENO, name: "gatehouse.access-log")
        } else {
            path = place
            writer = LineWriter(descriptor: try Self.open(place), isOwned: true, name: "gatehouse.access-log")
        }
        self.logger = logger
        let reports = LineQueue.Reports(
            dropped: dropped,
            failed: { reason in
                logger.error("the access log can't be written: lines are dropped", metadata: ["reason": "\(reason)"])
            },
            resumed: { count in
                logger.notice("the access log is written again", metadata: ["lines_dropped": "\(count)"])
                return nil
            })
        queue = LineQueue(writer, reports: reports)
    }

    /// Opens the file to append to it, and makes it if it does not exist.
    private static func open(_ path: String) throws(CommandFailure) -> Int32 {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure("log.access: \(path): \(FileBytes.reason(errno)): create its directory, or correct it")
        }
        return descriptor
    }

    /// Queues lines. They are dropped, and counted, where too many wait already.
    func take(_ lines: ByteBuffer, count: Int) { queue.take(lines, count: count) }

    /// Opens the file again by its name, after it was moved away.
    func reopen() {
        guard let path else { return }
        queue.writer.replace { [logger] in
            do throws(CommandFailure) {
                return try AccessLogFile.open(path)
            } catch {
                logger.error("the access log can't be opened again", metadata: ["reason": "\(error)"])
                return nil
            }
        }
    }

    /// Writes what waits, and returns when it is written, or can't be for too long. To be called last.
    func close() {
        // A disk may have much to write yet; a reader that is there reads at once.
        if !queue.writer.finish(within: path == nil ? 1_000 : 5_000) {
            logger.warning("the access log is not written to its end: what it is written to takes nothing")
        }
    }
}
