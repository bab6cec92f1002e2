import Glibc

/// The one clock the process hands to its rooms.
enum SystemClock {
    /// Milliseconds since the Unix epoch.
    static let milliseconds: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
