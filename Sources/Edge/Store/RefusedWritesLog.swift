import StateSurface

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
    private var streak: (begin: Int, last: ContinuousClock.Instant)?

    /// The line to log after one check; nil for none.
    ///
    /// - Parameter isAnswering: whether the store answers: an outage has lines of its own, so what is refused then is
    ///   not told.
    mutating func update(
        _ refused: RefusedWrites, isAnswering: Bool, at now: ContinuousClock.Instant
    ) -> Line? {
        defer { known = max(known, refused.count) }
        if refused.count > known {
            guard let streak else {
                guard isAnswering else { return nil }
                self.streak = (known, now)
                return .refuses(cause: refused.cause)
            }
            self.streak = (streak.begin, now)
            return nil
        }
        guard let streak, isAnswering, streak.last.duration(to: now) >= Self.calm else { return nil }
        self.streak = nil
        return .back(refused: refused.count - streak.begin)
    }
}
