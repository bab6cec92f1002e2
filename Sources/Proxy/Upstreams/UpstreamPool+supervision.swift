import EdgeConfiguration
import EdgeCore
import NIOCore

/// How the pool applies what its route says of checks, ejection, retries and concurrency. For a route that says nothing,
/// requests are neither counted nor judged here.
extension UpstreamPool {
    // MARK: Choosing

    /// Counts a request, or asks whether it may be repeated.
    func mayRetry(_ isRetry: Bool) -> Bool {
        guard isRetry else {
            retries?.requested()
            return true
        }
        return retries?.take(at: SharedUpstreamHealth.now()) ?? true
    }

    /// Takes a place at one of the upstreams; see ``UpstreamChoice``.
    func claim(excluding tried: Set<Int>, only: Int?) -> UpstreamChoice.Pick {
        if let only {
            guard !tried.contains(only), members.indices.contains(only) else { return .none }
            return !isFull(only) && enter(only) ? .member(only) : .full
        }
        let now = SharedUpstreamHealth.now()
        var candidates = members.indices.map { candidate($0, at: now) }
        let choice = UpstreamChoice(panic: terms.panic)
        // Another event loop may take the last place between the question and the claim.
        for _ in members.indices {
            let pick = choice.pick(candidates, excluding: tried, turn: turn) { Double.random(in: 0..<1) }
            guard case .member(let index) = pick else { return pick }
            if enter(index) {
                turn = (index + 1) % members.count
                return pick
            }
            candidates[index].isFull = true
        }
        return .full
    }

    private func candidate(_ index: Int, at now: Int64) -> UpstreamChoice.Candidate {
        let view = members[index].health.view
        var candidate = UpstreamChoice.Candidate()
        candidate.isAvailable = view.isAvailable(at: now)
        candidate.weight = view.weight(at: now, slowStart: terms.slowStart)
        candidate.isBackingOff = members[index].backOffUntil > loop.now
        candidate.active = members[index].busy
        candidate.isFull = isFull(index)
        return candidate
    }

    private func isFull(_ index: Int) -> Bool {
        // Idle connections can be used, or closed to make room.
        if let most = maxConnections, members[index].busy >= most { return true }
        guard let most = terms.maxRequests else { return false }
        return members[index].health.isFull(most)
    }

    private func enter(_ index: Int) -> Bool {
        guard let most = terms.maxRequests else { return true }
        return members[index].health.enter(most)
    }

    // MARK: Outcomes

    /// A request was answered with this status. 5xx counts as a failure. Does nothing where the route has no `outlier`.
    package func answered(_ index: Int, status: Int) {
        guard isSupervised, terms.outlier != nil, members.indices.contains(index) else { return }
        if status >= 500 { faulted(index) } else { members[index].health.succeeded() }
    }

    /// A request failed: no connection, or no sound answer in time.
    ///
    /// - Parameter index: the number of the upstream.
    package func faulted(_ index: Int) {
        guard isSupervised, terms.outlier != nil, members.indices.contains(index) else { return }
        if members[index].health.failed() { watch?.ejected(members[index].target.place) }
    }

    // MARK: Checks

    /// Begins to check the upstreams, if the route says so and this loop is the one that does it. The first check comes
    /// at once.
    package func startChecks() {
        guard makesChecks, terms.health != nil else { return }
        for index in members.indices { check(index) }
    }

    private func check(_ index: Int) {
        guard !isRetired, let health = terms.health else { return }
        members[index].checking += 1
        // A check may give up before an attempt to connect does, which counts as active until then.
        let left: () -> Void = { [weak self] in self?.members[index].checking -= 1 }
        let probe = HealthProbe(health, left: left) { [weak self] passed in
            guard let self else { return }
            if let passed, members[index].health.checked(passed) { reportUp(index) }
            // Varied by a tenth, so that the gateways of a fleet do not all check at the same moment.
            let pause = Int64(Double(health.interval) * Double.random(in: 0.9...1.1))
            let pool = NIOLoopBound(WeakPool(pool: self), eventLoop: loop)
            loop.scheduleTask(in: .milliseconds(pause)) { pool.value.pool?.check(index) }
        }
        probe.start(index, of: self, on: loop)
    }

    /// Reports whether an upstream is up. A retired pool reports nothing: its upstream may be gone from the
    /// configuration.
    func reportUp(_ index: Int) {
        guard !isRetired, let watch else { return }
        if members[index].reportUp == nil {
            members[index].reportUp = watch.upReporter(members[index].target.place)
        }
        members[index].reportUp?(members[index].health.isUp)
    }

    // MARK: Showing

    /// A member as an operator sees it.
    package struct MemberState {
        /// Where it is.
        package let place: String
        /// Whether the last connection was made and the checks, if there are any, pass.
        package let isUp: Bool
        /// For how long no request is sent there if there is another.
        package let unusedFor: TimeAmount
        /// Requests in progress, open sockets among them, as far as this loop knows.
        package let active: Int
        /// How many requests in a row have failed, where the route has `outlier`; else how many connections.
        package let failures: Int
    }

    /// The members as an operator sees them.
    package var memberStates: [MemberState] {
        let (now, uptime) = (loop.now, SharedUpstreamHealth.now())
        return members.map { member in
            let known = member.health.failures(at: uptime)
            let ejected = TimeAmount.milliseconds(known.ejectedUntil.map { $0 - uptime } ?? 0)
            return MemberState(
                place: member.target.place, isUp: member.health.isUp,
                unusedFor: max(.zero, member.backOffUntil - now, ejected), active: member.busy,
                failures: max(known.consecutive, member.failures))
        }
    }
}
