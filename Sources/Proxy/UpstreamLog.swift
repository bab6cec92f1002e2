import Logging
import Synchronization

/// Logs failures of upstreams for the operator. Safe from any thread; all event loops share it, and a reload keeps it.
package final class UpstreamLog: Sendable {
    private let logger: Logger
    private let clock: @Sendable () -> Int64
    private let pacer = Mutex(UpstreamFaultPacer())

    /// - Parameter clock: milliseconds since the Unix epoch.
    package init(logger: Logger, clock: @escaping @Sendable () -> Int64) {
        self.logger = logger
        self.clock = clock
    }

    /// Logs a fault, unless the same was logged a moment ago. At most one line in ten seconds for each upstream and
    /// reason; the next one says how many there were in between.
    package func failed(_ target: UpstreamTarget, _ fault: UpstreamFault) {
        let now = clock()
        guard let unlogged = pacer.withLock({ $0.countSinceLastLog(target, reason: fault.reason, now: now) }) else {
            return
        }
        var metadata: Logger.Metadata = [
            "upstream": "\(target.place)", "reason": "\(fault.reason)", "cause": "\(fault.cause)",
        ]
        if unlogged > 0 { metadata["more_before"] = "\(unlogged)" }
        logger.warning("an upstream does not serve", metadata: metadata)
    }
}
