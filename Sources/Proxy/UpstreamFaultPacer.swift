/// Decides which faults are logged: the first of each kind at once, then at most one line in ten seconds, with the
/// number of faults since.
struct UpstreamFaultPacer {
    private struct Key: Hashable {
        let target: UpstreamTarget
        let reason: String
    }

    private static let pause: Int64 = 10_000

    /// When each was logged last, in ms, and how often it has come since.
    private var logged: [Key: (at: Int64, since: Int)] = [:]

    /// How often the fault has come without being logged; nil when it is not to be logged now.
    mutating func countSinceLastLog(_ target: UpstreamTarget, reason: String, now: Int64) -> Int? {
        let key = Key(target: target, reason: reason)
        guard let known = logged[key] else {
            logged[key] = (now, 0)
            return 0
        }
        // A clock that was set back must not stop the log.
        guard now >= known.at + Self.pause || now < known.at else {
            logged[key] = (known.at, known.since + 1)
            return nil
        }
        logged[key] = (now, 0)
        return known.since
    }
}
