/// One event on its way to one receiver.
package struct Delivery: Sendable, Equatable {
    /// Which deliveries wait for each other: those to one receiver about one session. What is about no session has a
    /// lane of its own.
    package struct Lane: Sendable, Hashable {
        /// The receiver's name in the configuration.
        package let receiver: String
        /// The session, or the event where it is about none.
        package let key: String

        /// - Parameters:
        ///   - receiver: the receiver's name in the configuration.
        ///   - key: the session, or the event where there is none.
        package init(receiver: String, key: String) {
            self.receiver = receiver
            self.key = key
        }
    }

    /// Of the event and the receiver together.
    package let id: String
    /// Which deliveries it waits for.
    package let lane: Lane
    /// Its place among the deliveries of its lane, as the store counts them.
    package let sequence: Int64
    /// Milliseconds since 1970.
    package let createdAt: Int64
    /// How often it was tried.
    package private(set) var attempts: Int
    /// When it may be tried next, in milliseconds since 1970.
    package private(set) var dueAt: Int64

    /// How long it is tried, in milliseconds.
    package static let lifetime: Int64 = 86_400_000
    /// The first pause, which doubles, and the longest, in milliseconds.
    package static let firstPause: Int64 = 1_000
    package static let longestPause: Int64 = 3_600_000

    package init(id: String, lane: Lane, sequence: Int64, createdAt: Int64, attempts: Int = 0, dueAt: Int64? = nil) {
        self.id = id
        self.lane = lane
        self.sequence = sequence
        self.createdAt = createdAt
        self.attempts = max(0, attempts)
        self.dueAt = dueAt ?? createdAt
    }

    /// What follows from an attempt.
    package enum Outcome: Sendable, Equatable {
        case delivered
        /// To be tried again at ``Delivery/dueAt``.
        case retry(Delivery)
        case dead(DeadLetter)
    }

    /// Why a delivery was given up.
    package enum DeadLetter: String, Sendable {
        /// It was not accepted for 24 hours.
        case expired
        /// The receiver said that it is gone (410).
        case gone
    }

    /// What follows from the receiver's answer.
    ///
    /// - Parameters:
    ///   - verdict: of the answer; see ``ReceiverVerdict``.
    ///   - now: milliseconds since 1970.
    ///   - jitter: a random number from 0 up to 1, which keeps many deliveries from coming back in one moment.
    package func outcome(_ verdict: ReceiverVerdict, now: Int64, jitter: Double) -> Outcome {
        let retryAfter: Int64
        switch verdict {
        case .delivered: return .delivered
        case .gone: return .dead(.gone)
        case .retry(let after): retryAfter = after ?? 0
        }
        let deadline = createdAt.addingReportingOverflow(Self.lifetime).partialValue
        guard now < deadline else { return .dead(.expired) }
        var next = self
        next.attempts = attempts &+ 1
        let pause = max(Self.pause(afterAttempt: next.attempts, jitter: jitter), min(retryAfter, Self.longestPause))
        // The last attempt is at the end of the time, not beyond it.
        next.dueAt = min(now.addingReportingOverflow(pause).partialValue, deadline)
        return .retry(next)
    }

    /// The pause after the n-th attempt, in milliseconds: 1 s doubled each time up to an hour, less up to a fifth or
    /// more up to a fifth.
    static func pause(afterAttempt number: Int, jitter: Double) -> Int64 {
        let doubled = number > 12 ? longestPause : firstPause << Int64(max(0, number - 1))
        let share = jitter.isFinite ? min(max(jitter, 0), 1) : 0.5
        return Int64(Double(min(doubled, longestPause)) * (0.8 + 0.4 * share))
    }
}
