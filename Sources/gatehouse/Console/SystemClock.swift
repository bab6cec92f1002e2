import Foundation

/// The one clock the process hands to its rooms.
enum SystemClock {
    /// Milliseconds since the Unix epoch.
    static let milliseconds: @Sendable () -> Int64 = {
        Int64(Date().timeIntervalSince1970 * 1_000)
    }
}
