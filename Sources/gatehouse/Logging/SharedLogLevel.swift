import AdminAPI
import EdgeConfiguration
import Logging
import Synchronization

/// The level of every logger of the process, which a reload may change, and an operator for a while.
final class SharedLogLevel: Sendable {
    private struct State {
        var configured: Logger.Level
        /// A level for a while, and its end in ms since the epoch.
        var lent: (level: Logger.Level, until: Int64)?

        func lent(at now: () -> Int64) -> (level: Logger.Level, until: Int64)? {
            guard let lent, now() < lent.until else { return nil }
            return lent
        }
    }

    private let state: Mutex<State>
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: milliseconds since the Unix epoch.
    init(_ level: GatewayConfiguration.Log.Level, clock: @escaping @Sendable () -> Int64 = SystemClock.milliseconds) {
        state = Mutex(State(configured: Self.level(level)))
        self.clock = clock
    }

    private static func level(_ level: GatewayConfiguration.Log.Level) -> Logger.Level {
        Logger.Level(rawValue: level.rawValue) ?? .info
    }

    var current: Logger.Level { state.withLock { $0.lent(at: clock)?.level ?? $0.configured } }

    /// Sets the configured level. A level that was set for a while stays until its end.
    func set(_ level: GatewayConfiguration.Log.Level) {
        state.withLock { $0.configured = Self.level(level) }
    }

    /// Sets a level for a while.
    func lend(_ level: GatewayConfiguration.Log.Level, seconds: Int64) {
        let until = clock() + seconds * 1_000
        state.withLock { $0.lent = (Self.level(level), until) }
    }

    /// The level as the operator's API shows it.
    var entry: LogLevelEntry {
        state.withLock { state in
            let lent = state.lent(at: clock)
            return LogLevelEntry(level: (lent?.level ?? state.configured).rawValue, until: lent?.until)
        }
    }
}
