import Gate
import Leases
import Logging
import Metrics
import NIOCore
import SecurityGuard
import StateSurface
import Synchronization

/// Records the values that are looked up instead of counted: what the loops hold, the store's health, the process.
/// Called before `/metrics` is answered, and every five seconds for backends that push.
package final class MetricsRecorder: Sendable {
    private let metrics: EdgeMetrics
    private let securityGuard: SecurityGuard
    private let state: any ChangeFeed
    private let loops: LoopStateRegistry
    private let grace: Int64
    private let processorTime: FloatingPointCounter
    private let lastProcessorTime = Mutex<Double>(0)
    private let logger: Logger
    /// Whether the log has told of metrics that record nothing.
    private let hasWarned = Atomic<Bool>(false)

    /// - Parameter version: the version that runs, for `gatehouse_build_info`.
    /// - Parameter grace: `state.grace` in ms.
    package init(
        metrics: EdgeMetrics, securityGuard: SecurityGuard, state: any ChangeFeed, loops: LoopStateRegistry,
        grace: Int64,
        version: String, logger: Logger
    ) {
        self.logger = logger
        self.metrics = metrics
        self.securityGuard = securityGuard
        self.state = state
        self.loops = loops
        self.grace = grace
        processorTime = FloatingPointCounter(label: "process_cpu_seconds_total", factory: metrics.factory)
        metrics.record("gatehouse_build_info", 1, [("version", version)])
    }

    /// What the loops hold, added up.
    private struct Sums: Sendable {
        var leases = 0
        var sockets = 0
        var ends: [LeaseEnd: Int] = [:]
        var hits = 0
        var results: [String: Int] = [:]

        mutating func add(_ loop: LoopState) {
            leases += loop.leases.count
            sockets += loop.socketCount
            ends.merge(loop.leases.ends, uniquingKeysWith: +)
            guard let tally = loop.snapshot?.gate.tokens.tally else { return }
            hits += tally.hits
            results.merge(tally.results, uniquingKeysWith: +)
        }
    }

    /// Records everything as it is now. Asks the loops one after the other, so that none of them waits for another. Two
    /// calls at once do no harm.
    package func record() async {
        var sums = Sums()
        for bound in loops.all {
            let before = sums
            sums =
                (try? await bound.eventLoop.submit {
                    var sums = before
                    sums.add(bound.value)
                    return sums
                }.get()) ?? before
        }
        metrics.record("gatehouse_open_connections", Double(metrics.openConnections.load(ordering: .relaxed)))
        metrics.record("gatehouse_leases", Double(sums.leases))
        metrics.record("gatehouse_sockets", Double(sums.sockets))
        metrics.record("gatehouse_login_queue", Double(securityGuard.waitingLogins))
        metrics.move("gatehouse_token_cache_hits_total", to: sums.hits)
        for (result, count) in sums.results {
            metrics.move("gatehouse_token_verifications_total", to: count, [("result", metrics.reason(result))])
        }
        for end in LeaseEnd.allCases {
            metrics.move("gatehouse_lease_ends_total", to: sums.ends[end] ?? 0, [("reason", end.word)])
        }
        recordStore()
        recordProcess()
        warnOfRefusedMetrics()
    }

    /// Says once that there is no room for more series. Routes that reloads have removed keep theirs.
    private func warnOfRefusedMetrics() {
        let count = metrics.recordRefusedMetrics()
        guard count > 0, !hasWarned.exchange(true, ordering: .relaxed) else { return }
        logger.warning(
            "there is no room for more series of metrics: what is new is not counted until the gateway is restarted",
            metadata: ["refused": "\(count)"])
    }

    private func recordStore() {
        let health = StoreWatch.health(of: state, securityGuard, grace: grace)
        metrics.record("gatehouse_store_up", health == .current ? 1 : 0)
        if let store = state as? any RefusingStore {
            metrics.move("gatehouse_store_refused_writes_total", to: store.refusedWrites().count)
        }
        metrics.record("gatehouse_feed_age_seconds", state.sinceLastBeat() / .seconds(1))
    }

    private func recordProcess() {
        guard let figures = ProcessFigures.read() else { return }
        metrics.record("process_resident_memory_bytes", figures.residentMemory)
        metrics.record("process_open_fds", figures.openDescriptors)
        metrics.record("process_max_fds", figures.mostDescriptors)
        metrics.record("process_start_time_seconds", figures.startTime)
        let more = lastProcessorTime.withLock { last in
            defer { last = max(last, figures.processorTime) }
            return figures.processorTime - last
        }
        if more > 0 { processorTime.increment(by: more) }
    }
}
