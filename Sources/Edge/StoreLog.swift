import Gate
import Logging
import SecurityGuard
import StateSurface

/// Decides what the log says of the store's health: a line when it is lost, one when its grace is over, one when it is
/// back.
struct StoreLog {
    /// What is logged; each is told once for an outage.
    enum Line: Equatable {
        /// It has been away for longer than it takes to connect again.
        case lost
        /// It has been away for longer than `state.grace`.
        case graceOver
        /// It can be used again.
        case back
    }

    private var told = StoreHealth.current
    private var wasAway = false

    /// The line to log after one check of the store; nil for none. An outage that only one check sees is not told,
    /// unless its grace is over already.
    mutating func look(_ health: StoreHealth) -> Line? {
        guard health != .current else {
            wasAway = false
            guard told != .current else { return nil }
            told = .current
            return .back
        }
        defer { wasAway = true }
        if health == .lost, told != .lost {
            told = .lost
            return .graceOver
        }
        guard told == .current, wasAway else { return nil }
        told = .silent
        return .lost
    }
}

/// Decides what the log says of a store that answers and takes no writes, as on a full disk: a line for the first write
/// that it refuses, and one when it has refused none for a while.
struct RefusedWritesLog {
    /// What is logged.
    enum Line: Equatable {
        /// It has refused a write, for this reason.
        case refuses(cause: String)
        /// It has refused none for ``RefusedWritesLog/calm``.
        case back(refused: Int)
    }

    /// How long no write must have been refused.
    static let calm = Duration.seconds(10)

    private var known = 0
    /// The count before the first write that was refused, and when the last one was seen; nil while all is well.
    private var spell: (begin: Int, last: ContinuousClock.Instant)?

    /// The line to log after one check; nil for none.
    ///
    /// - Parameter isAnswering: whether the store answers: an outage has lines of its own, so what is refused then is
    ///   not told.
    mutating func look(
        _ refused: RefusedWrites, isAnswering: Bool, at now: ContinuousClock.Instant
    ) -> Line? {
        defer { known = max(known, refused.count) }
        if refused.count > known {
            guard let spell else {
                guard isAnswering else { return nil }
                self.spell = (known, now)
                return .refuses(cause: refused.cause)
            }
            self.spell = (spell.begin, now)
            return nil
        }
        guard let spell, isAnswering, spell.last.duration(to: now) >= Self.calm else { return nil }
        self.spell = nil
        return .back(refused: refused.count - spell.begin)
    }
}

/// Checks the store four times a second, so that the log shows an outage itself and not only its effects.
package struct StoreReporter {
    private static let interval = Duration.milliseconds(250)

    /// The store.
    package let state: any StateSurface
    /// Knows whether revocations are up to date.
    package let securityGuard: SecurityGuard
    /// `state.grace`, in ms: how long verified traffic goes on without the store.
    package let grace: Int64
    /// Where outages and their ends are told.
    package let logger: Logger

    package init(state: any StateSurface, securityGuard: SecurityGuard, grace: Int64, logger: Logger) {
        self.state = state
        self.securityGuard = securityGuard
        self.grace = grace
        self.logger = logger
    }

    /// Checks the store until it is cancelled. To be called once.
    package func run() async {
        var log = StoreLog()
        var writes = RefusedWritesLog()
        var awaySince: ContinuousClock.Instant?
        while !Task.isCancelled {
            do { try await Task.sleep(for: Self.interval) } catch { return }
            let health = StoreWatch.health(of: state, securityGuard, grace: grace)
            if health != .current, awaySince == nil { awaySince = ContinuousClock.now }
            switch log.look(health) {
            case .lost?: await tellLoss()
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
            tell(writes.look(refusedWrites, isAnswering: health == .current, at: .now))
        }
    }

    private var refusedWrites: RefusedWrites { (state as? any RefusingStore)?.refusedWrites() ?? RefusedWrites() }

    private func tell(_ line: RefusedWritesLog.Line?) {
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

    private func tellLoss() async {
        let words = await cause()
        logger.warning(
            "the store is out of reach: logins, refreshes and new sockets are refused until it is back",
            metadata: ["cause": "\(words)", "grace_seconds": "\(grace / 1_000)"])
    }

    /// Why the store can't be used, in the store's own words. They never contain a value of a row or a password.
    private func cause() async -> String {
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
