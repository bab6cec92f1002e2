/// Decides what to do in a pause of an answer that is being passed on: flush, and take a lease for an answer that lasts
/// longer.
package struct AnswerFlow {
    /// What the pause asks for.
    package enum Action {
        /// The answer was not complete after its first burst of bytes: it must be possible to end it early.
        case takeLease
        /// Hand what was passed on to the kernel: the client should see it now, and not with the next part.
        case flush
    }

    private var needsFlush = false
    private var hasAskedForLease = false
    /// Whether the lease's expiry ends the answer, and not only a revocation.
    package private(set) var isStream = false
    /// Whether the head has been passed on.
    package private(set) var hasStarted = false
    /// Whether there is a lease that can end the answer.
    package var isLeaseHeld = false

    /// Creates the state of an answer that has not begun.
    package init() {}

    /// The head is known, and has not been passed on.
    package mutating func expects(isStream: Bool) { self.isStream = isStream }

    /// The head has been passed on.
    package mutating func started() {
        hasStarted = true
        needsFlush = true
    }

    /// A part of the body has been passed on.
    package mutating func passedPart() { needsFlush = true }

    /// Whether the answer may be silent without a time limit, since its lease ends it.
    package var mayBeSilent: Bool { isStream && isLeaseHeld }

    /// The next action in a pause; nil when there is none. The lease comes first and is asked for once in an answer,
    /// then one flush for everything since the last.
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
