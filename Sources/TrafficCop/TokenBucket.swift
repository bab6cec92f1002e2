/// A bucket that fills up at a steady rate and holds a minute's worth.
///
/// Counts in sixty-thousandths of a token, so that a millisecond adds `perMinute` of them and nothing is rounded away.
struct TokenBucket: Sendable, Equatable {
    private static let unit: Int64 = 60_000
    private let perMinute: Int64
    private var level: Int64
    private var filledAt: Int64

    init(perMinute: Int, now: Int64) {
        // A limit that high is none; the bound keeps every product below in range.
        self.perMinute = Int64(min(max(perMinute, 0), 1_000_000_000))
        self.level = self.perMinute * Self.unit
        self.filledAt = now
    }

    private var capacity: Int64 { self.perMinute * Self.unit }

    mutating func take(cost: Int, now: Int64) -> RateDecision {
        self.fill(until: now)
        let needed = Int64(min(max(cost, 1), 1_000_000)) * Self.unit
        guard self.level >= needed else {
            guard self.perMinute > 0 else { return .limited(retryAfterSeconds: 60) }
            let milliseconds = (needed - self.level + self.perMinute - 1) / self.perMinute
            return .limited(retryAfterSeconds: Int(max(1, (milliseconds + 999) / 1_000)))
        }
        if cost > 0 { self.level -= needed }
        return .allowed
    }

    mutating func refund(cost: Int, now: Int64) {
        self.fill(until: now)
        self.level = min(self.capacity, self.level + Int64(min(max(cost, 0), 1_000_000)) * Self.unit)
    }

    func isFull(at now: Int64) -> Bool { self.levelAt(now) >= self.capacity }

    /// Between 0 (empty) and 1 (full).
    func fill(at now: Int64) -> Double {
        self.capacity == 0 ? 0 : Double(self.levelAt(now)) / Double(self.capacity)
    }

    /// A clock that steps back adds nothing and takes nothing: filling goes on from the new time.
    private mutating func fill(until now: Int64) {
        self.level = self.levelAt(now)
        self.filledAt = now
    }

    private func levelAt(_ now: Int64) -> Int64 {
        let elapsed = min(max(0, now.subtractingReportingOverflow(self.filledAt).partialValue), Self.unit)
        return min(self.capacity, self.level + elapsed * self.perMinute)
    }
}
