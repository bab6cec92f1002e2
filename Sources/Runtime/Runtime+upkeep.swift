import StateSurface

/// When the recurring work was last done. At first all of it is due.
struct UpkeepTimes: Sendable {
    var flushed: ContinuousClock.Instant?
    var reaped: ContinuousClock.Instant?
    var beat: ContinuousClock.Instant?

    /// Whether work is due again. If so, it is recorded as done now.
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
    /// The time in milliseconds after which a node without a sign of life counts as gone.
    private static var beatWindow: Milliseconds { 5_000 }
    private static var batch: Int { 256 }

    /// Does the recurring work until the task is cancelled, and then writes the uses of sessions that are not yet
    /// written.
    package func run() async {
        var times = UpkeepTimes()
        while !Task.isCancelled {
            await self.upkeep(&times)
            try? await Task.sleep(for: Self.step)
        }
        // In a separate task, because this one is cancelled and the write must not be. If it fails, seconds of the idle
        // time of some sessions are lost.
        await Task { try? await self.uses.flush(to: self.store) }.value
    }

    /// One round. If the store fails, it is tried again in the next round. Sessions do not live longer because of that,
    /// as their expiry is checked whenever they are used.
    func upkeep(_ times: inout UpkeepTimes) async {
        if UpkeepTimes.isDue(&times.flushed, every: .milliseconds(self.policy.flushInterval)) {
            try? await self.flushUses()
        }
        if UpkeepTimes.isDue(&times.reaped, every: Self.reapPeriod) { try? await self.expireSessions() }
        if UpkeepTimes.isDue(&times.beat, every: Self.beatPeriod) { try? await self.finishInterrupted() }
    }

    /// Writes the uses of sessions. An open socket counts as a use.
    func flushUses() async throws {
        for id in self.streams.sessionIDs { self.noteUse(id) }
        try await self.uses.flush(to: self.store)
    }

    /// Marks expired sessions. Uses are written first, so that a session in use is not found idle.
    func expireSessions() async throws {
        try await self.flushUses()
        while true {
            let expired = try await self.store.expireSessions(now: self.clock(), limit: Self.batch)
            for id in expired { self.audit(SessionAudit(.expired, sessionID: id)) }
            guard expired.count >= Self.batch else { return }
            await Task.yield()
        }
    }

    /// Records that this node is alive, and finishes the intents that dead nodes left unfinished.
    func finishInterrupted() async throws {
        try await self.runner.recordLeftovers()
        let living = try await self.store.beat(nodeID: self.nodeID, at: self.clock(), within: Self.beatWindow)
        let interrupted = try await self.store.interruptedExecutions(
            livingNodes: living.union([self.nodeID]), limit: Self.batch)
        for execution in interrupted { try await self.runner.finishInterrupted(execution) }
    }
}
