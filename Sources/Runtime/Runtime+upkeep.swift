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
            await upkeep(&times)
            try? await Task.sleep(for: Self.step)
        }
        // In a separate task, because this one is cancelled and the write must not be. If it fails, seconds of the idle
        // time of some sessions are lost.
        await Task { try? await self.uses.flush(to: self.store) }.value
    }

    /// One round. If the store fails, it is tried again in the next round. Sessions do not live longer because of that,
    /// as their expiry is checked whenever they are used.
    func upkeep(_ times: inout UpkeepTimes) async {
        if UpkeepTimes.isDue(&times.flushed, every: .milliseconds(policy.flushInterval)) {
            try? await flushUses()
        }
        if UpkeepTimes.isDue(&times.reaped, every: Self.reapPeriod) { try? await expireSessions() }
        if UpkeepTimes.isDue(&times.beat, every: Self.beatPeriod) { try? await finishInterrupted() }
    }

    /// Writes the uses of sessions. An open socket counts as a use.
    func flushUses() async throws {
        for id in streams.sessionIDs where !noteUse(id) {
            // There are more sockets than uses that may wait. Without this, the same sessions would be left out each
            // time and found idle.
            try await uses.flush(to: store)
            uses.note(id, at: clock())
        }
        try await uses.flush(to: store)
    }

    /// Marks expired sessions, and ends the families that were at home in them. Uses are written first, so that a session
    /// in use is not found idle. Where there are many, the rest waits for the next round: a node that does not beat
    /// counts as gone.
    func expireSessions() async throws {
        let end = ContinuousClock.now + .seconds(1)
        var isMore = true
        while isMore, ContinuousClock.now < end {
            try await flushUses()
            let expired = try await store.expireSessions(now: clock(), limit: Self.batch)
            for id in expired.ids { audit(SessionAudit(.expired, sessionID: id)) }
            reportEnded(expired.families)
            isMore = expired.ids.count >= Self.batch || expired.families.count >= ExpiredSessions.homePortion
            await Task.yield()
        }
    }

    /// Records that this node is alive, and finishes the intents that dead nodes left unfinished.
    func finishInterrupted() async throws {
        // First: other nodes finish the intents of one that does not beat.
        let living = try await store.beat(nodeID: nodeID, at: clock(), within: Self.beatWindow)
        await runner.recordLeftovers()
        let interrupted = try await store.interruptedExecutions(
            livingNodes: living.union([nodeID]), limit: Self.batch)
        for execution in interrupted { try await runner.finishInterrupted(execution) }
    }
}
