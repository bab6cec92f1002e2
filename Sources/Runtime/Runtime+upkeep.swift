import StateSurface

/// When the recurring work was done last. Everything starts out as due.
struct UpkeepTimes: Sendable {
    var flushed: ContinuousClock.Instant?
    var reaped: ContinuousClock.Instant?
    var beat: ContinuousClock.Instant?

    /// Whether something is due again, and if so, that it is being done now.
    static func isDue(_ last: inout ContinuousClock.Instant?, every period: Duration) -> Bool {
        let now = ContinuousClock.now
        if let last, last + period > now { return false }
        last = now
        return true
    }
}

extension Runtime {
    private static var step: Duration { .milliseconds(250) }
    private static var reapPeriod: Duration { .seconds(1) }
    private static var beatPeriod: Duration { .seconds(1) }
    /// A node that has not been heard of for this long is gone.
    private static var beatWindow: Milliseconds { 5_000 }
    private static var batch: Int { 256 }

    /// Everything that has to happen without being asked for, until the task is cancelled; then what is not yet
    /// written is written.
    package func run() async {
        var times = UpkeepTimes()
        while !Task.isCancelled {
            await self.upkeep(&times)
            try? await Task.sleep(for: Self.step)
        }
        // In a task of its own: this one is cancelled, and the write must not be. What fails to be written is the last
        // use of some sessions, seconds of their idle time.
        await Task { try? await self.uses.flush(to: self.store) }.value
    }

    /// One round. A store that is away is no reason to stop: the next round comes. Nothing lives longer for it: whether a
    /// session is past its end is judged by the clock whenever it is used.
    func upkeep(_ times: inout UpkeepTimes) async {
        if UpkeepTimes.isDue(&times.flushed, every: .milliseconds(self.policy.flushInterval)) {
            try? await self.flushUses()
        }
        if UpkeepTimes.isDue(&times.reaped, every: Self.reapPeriod) { try? await self.expireSessions() }
        if UpkeepTimes.isDue(&times.beat, every: Self.beatPeriod) { try? await self.finishInterrupted() }
    }

    /// An open socket is a use.
    func flushUses() async throws {
        for id in self.streams.sessionIDs { self.noteUse(id) }
        try await self.uses.flush(to: self.store)
    }

    /// Marks what is past its end. Uses are written first, so that nothing in use is found idle.
    func expireSessions() async throws {
        try await self.flushUses()
        while true {
            let expired = try await self.store.expireSessions(now: self.clock(), limit: Self.batch)
            for id in expired { self.audit(SessionAudit(.expired, sessionID: id)) }
            guard expired.count >= Self.batch else { return }
            await Task.yield()
        }
    }

    /// Says that this node lives, and closes what nodes that don't have left open.
    func finishInterrupted() async throws {
        try await self.runner.recordLeftovers()
        let living = try await self.store.beat(nodeID: self.nodeID, at: self.clock(), within: Self.beatWindow)
        let interrupted = try await self.store.interruptedExecutions(
            livingNodes: living.union([self.nodeID]), limit: Self.batch)
        for execution in interrupted { try await self.runner.finishInterrupted(execution) }
    }
}
