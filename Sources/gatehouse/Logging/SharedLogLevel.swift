import AdminAPI
import EdgeConfiguration
import Logging
import Synchronization

/// The level of every logger of the process, which a reload may change, and an operator for a while.
final class SharedLogLevel: Sendable {
    /// Guarded by the lock.
    private struct State {
        /// `log.level`, which counts where nothing else is set for a while.
        var configured: Logger.Level
        /// A level for a while, and its end in ms since the epoch.
        var temporary: (level: Logger.Level, until: Int64)?

        /// The temporary level, as long as its time is not over.
        func temporary(at now: () -> Int64) -> (level: Logger.Level, until: Int64)? {
            guard let temporary, now() < temporary.until else { return nil }
            return temporary
        }
    }

    private let state: Mutex<State>
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: milliseconds since the Unix epoch.
    init(_ level: GatewayConfiguration.Log.Level, clock: @escaping @Sendable () -> Int64 = SystemClock.milliseconds) {
        state = Mutex(State(configured: Self.level(level)))
        self.clock = clock
    }

    /// The configured level as swift-log's.
    private static func level(_ level: GatewayConfiguration.Log.Level) -> Logger.Level {
        Logger.Level(rawValue: level.rawValue) ?? .info
    }

    /// The level in force now.
    var current: Logger.Level { state.withLock { $0.temporary(at: clock)?.level ?? $0.configured } }

    /// Sets the configured level. A level that was set for a while stays until its end.
    func set(_ level: GatewayConfiguration.Log.Level) {
        state.withLock { $0.configured = Self.level(level) }
    }

    /// Sets a level for a while.
    func setTemporarily(_ level: GatewayConfiguration.Log.Level, seconds: Int64) {
        let until = clock() + seconds * 1_000
        state.withLock { $0.temporary = (Self.level(level), until) }
    }

    /// The level as the operator's API shows it.
    var entry: LogLevelEntry {
        state.withLock { state in
            let temporary = state.temporary(at: clock)
            return LogLevelEntry(level: (temporary?.level ?? state.configured).rawValue, until: temporary?.until)
        }
    }
}
