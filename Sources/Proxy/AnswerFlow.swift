/// What is due while an answer is passed on and nothing more of it has arrived: a flush, and a lease for an answer that
/// turns out to last.
package struct AnswerFlow {
    package enum Action {
        /// The answer was not complete after its first burst of bytes: it must be possible to end it early.
        case takeLease
        case flush
    }

    private var needsFlush = false
    private var hasAskedForLease = false
    /// Whether the lease's expiry ends the answer, and not only a revocation.
    package private(set) var isStream = false
    /// Whether there is a lease that can end the answer.
    package var isLeaseHeld = false

    package init() {}

    /// The head has been passed on.
    package mutating func started(isStream: Bool) {
        self.isStream = isStream
        needsFlush = true
    }

    /// A part of the body has been passed on.
    package mutating func passedPart() { needsFlush = true }

    /// Whether the answer may be silent for as long as it likes, since its lease ends it.
    package var mayBeSilent: Bool { isStream && isLeaseHeld }

    /// What is due at a pause; nil when nothing is.
    package mutating func nextOfPause() -> Action? {
        if !hasAskedForLease {
            hasAskedForLease = true
            return .takeLease
        }
        guard needsFlush else { return nil }
        needsFlush = false
        return .flush
    }
}
