import EdgeConfiguration
import Glibc
import Logging

/// Standard output and standard error of a gateway that serves. What is written to them waits in a bounded queue, so
/// that a reader that does not read, such as a log shipper that hangs, stops neither an event loop nor anything else.
struct QueuedStreams: Sendable {
    let output: LineQueue
    /// The log, and other lines for the operator. The access log may share its writer.
    let errors: LineQueue

    /// - Parameters:
    ///   - format: how the log says that lines of it were dropped.
    ///   - limit: the number of bytes that may wait for each.
    ///   - dropped: told how many lines of the log were dropped.
    init(
        format: GatewayConfiguration.Log.Format, output: Int32 = STDOUT_FILENO, errors: Int32 = STDERR_FILENO,
        limit: Int = LineQueue.usualLimit, dropped: @escaping @Sendable (Int) -> Void
    ) {
        self.output = LineQueue(LineWriter(descriptor: output, name: "gatehouse.output"), limit: limit)
        let reports = LineQueue.Reports(
            dropped: dropped,
            resumed: { count in
                LineLogHandler.line(
                    .warning, "log lines were dropped: standard error was not read in time",
                    ["lines": "\(count)"], format: format)
            })
        self.errors = LineQueue(
            LineWriter(descriptor: errors, name: "gatehouse.errors"), limit: limit, reports: reports)
    }
}
