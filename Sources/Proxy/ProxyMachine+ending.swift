import Answers

/// How the exchange ends.
extension ProxyMachine {
    /// The lease is over. An answer that has begun is cut, so that the client can see that it is incomplete; in the
    /// place of one that has not, the client gets the refusal.
    ///
    /// Telling a client takes a third of the work of closing its connection, and many leases may end at once. So all
    /// clients are told first, and the connections are closed at ``settle()``.
    mutating func leaseEnded(_ refusal: Problem) {
        flow.isLeaseHeld = false
        if hasEnded { return }
        phase = .ending(flow.hasStarted ? .cut : .fail(refusal))
        attempt.hold()
    }

    /// The client can't be shown the end of its answer without closing its connection.
    mutating func cannotCut() {
        if case .cut = phase { phase = .settled(.abort) }
    }

    /// The clients of all leases that ended together were told. What was kept open meanwhile is closed: the client's
    /// connection, where its answer was cut, and the one to the upstream.
    mutating func settle() {
        switch phase {
        case .cut, .settled(.cut): phase = .settled(.abort)
        case .ending(.cut): phase = .ending(.abort)
        case .created, .running, .answered, .leased, .judging, .judged, .ending, .settled, .over: break
        }
        attempt.letGo()
    }

    /// What the client sees of it.
    mutating func show(_ ending: Ending) -> Action? {
        phase = .over
        switch ending {
        case .complete: return .finishAnswer
        case .fail(let problem): return .respond(problem)
        case .abort: return .abortAnswer
        case .cut:
            phase = .cut
            return .cutAnswer
        case .gone: return nil
        }
    }

    mutating func end(_ ending: Ending, reuse: Bool = false) {
        if hasEnded { return }
        phase = .ending(ending)
        attempt.end(reuse: reuse)
    }

    mutating func fail(_ problem: Problem) { end(.fail(problem)) }
}
