import Logging
import Synchronization

/// Which faults are told: the first of each kind at once, then one line in ten seconds with how many there were.
struct UpstreamFaultPacer {
    private struct Key: Hashable {
        let target: UpstreamTarget
        let reason: String
    }

    private static let pause: Int64 = 10_000

    /// When each was told last, in ms, and how often it has come since.
    private var told: [Key: (at: Int64, since: Int)] = [:]

    /// How often it has come without being told; nil when it is not to be told now either.
    mutating func tell(_ target: UpstreamTarget, reason: String, now: Int64) -> Int? {
        let key = Key(target: target, reason: reason)
        guard let known = told[key] else {
            told[key] = (now, 0)
            return 0
        }
        // A clock that was set back must not silence it.
        guard now >= known.at + Self.pause || now < known.at else {
            told[key] = (known.at, known.since + 1)
            return nil
        }
        told[key] = (now, 0)
        return known.since
    }
}

/// Tells the operator of upstreams that do not serve. Asked only when one has failed.
package final class UpstreamLog: Sendable {
    private let logger: Logger
    private let clock: @Sendable () -> Int64
    private let pacer = Mutex(UpstreamFaultPacer())

    package init(logger: Logger, clock: @escaping @Sendable () -> Int64) {
        self.logger = logger
        self.clock = clock
    }

    package func failed(_ target: UpstreamTarget, _ fault: UpstreamFault) {
        let now = clock()
        guard let untold = pacer.withLock({ $0.tell(target, reason: fault.reason, now: now) }) else { return }
        var metadata: Logger.Metadata = [
            "upstream": "\(target.place)", "reason": "\(fault.reason)", "cause": "\(fault.cause)",
        ]
        if untold > 0 { metadata["more_before"] = "\(untold)" }
        logger.warning("an upstream does not serve", metadata: metadata)
    }
}
