import Gate
import Logging
import SecurityGuard
import StateSurface

/// Checks the store four times a second, so that the log shows an outage itself and not only its effects.
package struct StoreReporter: Sendable {
    private static let interval = Duration.milliseconds(250)
    /// How long the store is asked why it can't be used. One that is silent says nothing for longer than that.
    private static let patience = Duration.seconds(1)

    /// The store.
    package let state: any StateSurface
    /// Knows whether revocations are up to date.
    package let securityGuard: SecurityGuard
    /// `state.grace`, in ms: how long verified traffic goes on without the store.
    package let grace: Int64
    /// Where outages and their ends are told.
    package let logger: Logger

    /// - Parameter grace: `state.grace`, in milliseconds.
    package init(state: any StateSurface, securityGuard: SecurityGuard, grace: Int64, logger: Logger) {
        self.state = state
        self.securityGuard = securityGuard
        self.grace = grace
        self.logger = logger
    }

    /// Checks the store until it is cancelled. To be called once.
    package func run() async {
        await withDiscardingTaskGroup { tasks in await watch(&tasks) }
    }

    /// - Parameter tasks: ask for causes, so that what the store does next is logged without waiting for them.
    private func watch(_ tasks: inout DiscardingTaskGroup) async {
        var outages = StoreLog()
        var writes = RefusedWritesLog()
        var awaySince: ContinuousClock.Instant?
        while !Task.isCancelled {
            do { try await Task.sleep(for: Self.interval) } catch { return }
            let health = StoreWatch.health(of: state, securityGuard, grace: grace)
            if health != .current, awaySince == nil { awaySince = ContinuousClock.now }
            switch outages.update(health) {
            case .lost?:
                logger.warning(
                    "the store is out of reach: logins, refreshes and new sockets are refused until it is back",
                    metadata: ["grace_seconds": "\(grace / 1_000)"])
                tasks.addTask { await logCause() }
            case .graceOver?:
                logger.error(
                    "the store has been away for longer than state.grace: its requests are refused, its sockets closed",
                    metadata: ["grace_seconds": "\(grace / 1_000)"])
            case .back?:
                let away = awaySince?.duration(to: ContinuousClock.now) ?? Duration.zero
                let seconds: Double = away / .seconds(1)
                logger.notice("the store is back", metadata: ["away_seconds": "\(Int(seconds.rounded()))"])
            case nil: break
            }
            if health == .current { awaySince = nil }
            log(writes.update(refusedWrites, isAnswering: health == .current, at: .now))
        }
    }

    private var refusedWrites: RefusedWrites { (state as? any RefusingStore)?.refusedWrites() ?? RefusedWrites() }

    private func log(_ line: RefusedWritesLog.Line?) {
        switch line {
        case .refuses(let cause)?:
            logger.warning(
                "the store takes no writes: logins, refreshes and new sessions are refused until it does",
                metadata: ["cause": "\(cause)"])
        case .back(let refused)?:
            logger.notice("the store takes writes again", metadata: ["refused_writes": "\(refused)"])
        case nil: break
        }
    }

    private func logCause() async {
        let words = await Self.answer(within: Self.patience, to: { await Self.cause(of: state) })
        guard !Task.isCancelled else { return }
        logger.warning("the cause of the store's outage", metadata: ["cause": "\(words ?? "no answer")"])
    }

    /// What a question is answered in time; nil for nothing. The question may go on then: one that waits for a silent
    /// store need not end when it is cancelled.
    static func answer(
        within patience: Duration, to question: @escaping @Sendable () async -> String
    ) async -> String? {
        let (answers, found) = AsyncStream.makeStream(of: String?.self, bufferingPolicy: .bufferingOldest(1))
        let asking = Task { found.yield(await question()) }
        let waiting = Task {
            try? await Task.sleep(for: patience)
            found.yield(nil)
        }
        defer {
            asking.cancel()
            waiting.cancel()
        }
        for await answer in answers { return answer }
        return nil
    }

    /// Why the store can't be used, in the store's own words. They never contain a value of a row or a password.
    private static func cause(of state: any StateSurface) async -> String {
        do {
            try await state.ping()
            return "its change feed is silent"
        } catch let error as StateSurfaceError {
            return error.message
        } catch {
            return "\(type(of: error))"
        }
    }
}
