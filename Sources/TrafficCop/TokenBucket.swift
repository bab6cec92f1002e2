/// A token bucket that is refilled at `perMinute` tokens a minute and holds at most `perMinute` of them.
///
/// The level is counted in units of 1/60,000 token, so that one millisecond adds exactly `perMinute` units and nothing
/// is lost to rounding.
struct TokenBucket: Sendable, Equatable {
    private static let unit: Int64 = 60_000
    private var perMinute: Int64
    private var level: Int64
    private var filledAt: Int64

    init(perMinute: Int, now: Int64) {
        // The bound is no limit in practice, and keeps the products below from overflowing.
        self.perMinute = Int64(min(max(perMinute, 0), 1_000_000_000))
        self.level = self.perMinute * Self.unit
        self.filledAt = now
    }

    private var capacity: Int64 { perMinute * Self.unit }

    /// Goes on with another limit. What was taken stays taken.
    mutating func limit(perMinute: Int, now: Int64) {
        let wanted = Int64(min(max(perMinute, 0), 1_000_000_000))
        guard wanted != self.perMinute else { return }
        fill(until: now)
        let taken = capacity - level
        self.perMinute = wanted
        level = max(0, capacity - taken)
    }

    /// Takes `cost` tokens, or nothing when there are fewer. With `cost` 0 it takes nothing and asks for one.
    mutating func take(cost: Int, now: Int64) -> RateDecision {
        fill(until: now)
        let needed = Int64(min(max(cost, 1), 1_000_000)) * Self.unit
        guard level >= needed else {
            guard perMinute > 0 else { return .limited(retryAfterSeconds: 60) }
            let milliseconds = (needed - level + perMinute - 1) / perMinute
            return .limited(retryAfterSeconds: Int(max(1, (milliseconds + 999) / 1_000)))
        }
        if cost > 0 { level -= needed }
        return .allowed
    }

    /// Puts `cost` tokens back, up to a full bucket.
    mutating func refund(cost: Int, now: Int64) {
        fill(until: now)
        level = min(capacity, level + Int64(min(max(cost, 0), 1_000_000)) * Self.unit)
    }

    /// Whether the bucket is full at `now`, so that forgetting it changes nothing.
    func isFull(at now: Int64) -> Bool { levelAt(now) >= capacity }

    /// The level between 0 (empty) and 1 (full).
    func fill(at now: Int64) -> Double {
        capacity == 0 ? 0 : Double(levelAt(now)) / Double(capacity)
    }

    /// Refills up to `now`. A clock that was set back adds and takes nothing; refilling goes on from the new time.
    private mutating func fill(until now: Int64) {
        level = levelAt(now)
        filledAt = now
    }

    private func levelAt(_ now: Int64) -> Int64 {
        let elapsed = min(max(0, now.subtractingReportingOverflow(filledAt).partialValue), Self.unit)
        return min(capacity, level + elapsed * perMinute)
    }
}
