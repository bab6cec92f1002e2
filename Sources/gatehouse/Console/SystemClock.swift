import Foundation

/// The system clock, which the process passes to all modules.
enum SystemClock {
    /// Milliseconds since the Unix epoch.
    static let milliseconds: @Sendable () -> Int64 = {
        Int64(Date().timeIntervalSince1970 * 1_000)
    }
}
