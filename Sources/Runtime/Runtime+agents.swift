import StateSurface
import Synchronization

extension Runtime {
    /// The number of intents of HTTP requests that may run at the same time.
    private static var maxRunning: Int { 1_024 }

    /// Connects an agent's socket. `ready` is sent before this returns, then the events it missed, then new ones.
    /// - Parameters:
    ///   - resumeFrom: the sequence number of the last event it has; nil for new events only.
    ///   - window: the number of events that may be sent and not yet written. A caller that sets it must call
    ///     ``AgentConnection/written(events:)`` for events that were written. This bounds the memory of a long replay.
    ///   - send: sends a message. It must not block, and must keep the order.
    package func attach(
        permit: Permit, resumeFrom: Int64?, window: Int = .max, send: @escaping @Sendable (AgentOutput) -> Void
    ) async throws -> AgentConnection {
        guard case .holds(let permit) = try await confirm(permit), permit.userID != nil else {
            throw SessionFault.mismatch
        }
        let listener = EventStreams.Listener(sessionID: permit.sessionID, window: window, send: send)
        // Added before the stream's bounds are read, so that no event in between is missed.
        streams.add(listener)
        let bounds: (first: Int64, last: Int64)
        do {
            bounds = try await store.eventBounds(sessionID: permit.sessionID)
        } catch {
            streams.remove(listener)
            throw error
        }
        let start = StreamStart(resumeFrom: resumeFrom, first: bounds.first, last: bounds.last)
        listener.emit(
            .message(AgentProtocol.ready(permit, lastSeq: bounds.last, lostBefore: start.isLost ? bounds.first : nil)))
        streams.start(listener, after: start.position, lastSeq: bounds.last)
        noteUse(permit.sessionID)
        return AgentConnection(
            permit: permit, listener: listener, streams: streams, runner: runner, limits: agentLimits,
            confirm: { [weak self] in try await self?.confirm($0) ?? .ended })
    }

    /// Runs one intent and returns its event as JSON.
    /// - Parameter body: the intent, as on a socket; `type` and `id` are optional.
    /// - Throws: ``AgentFault``, or the store's errors.
    package func execute(permit: Permit, intentJSON body: some Collection<UInt8>) async throws -> String {
        try await execute(
            permit: permit, intent: AgentProtocol.intent(body, isFrame: false, limits: agentLimits))
    }

    /// The intents that there are, in the order of their names.
    package var intentDescriptions: [IntentDescription] { runner.descriptions }

    /// What has become of an intent.
    package enum IntentState: Sendable, Equatable {
        /// There is no such intent in the session.
        case unknown
        /// It has begun and is not over.
        case underWay
        /// Its event, as JSON.
        case over(String)
    }

    /// What has become of an intent of a session, on whichever node it ran.
    package func state(ofIntent id: String, in permit: Permit) async throws -> IntentState {
        try await runner.state(sessionID: permit.sessionID, intentID: id)
    }

    /// Runs one intent and returns its event as JSON. An intent whose id was used before in the session is not run: the
    /// answer is the earlier one's event.
    /// - Throws: ``AgentFault``, or the store's errors.
    package func execute(permit: Permit, intent: Intent) async throws -> String {
        let running = running.add(1, ordering: .relaxed).newValue
        defer { self.running.subtract(1, ordering: .relaxed) }
        guard running <= Self.maxRunning else {
            throw AgentFault(.overloaded, "Too many intents are running.", intentID: intent.id)
        }
        guard case .holds(let permit) = try await confirm(permit) else {
            throw AgentFault(.sessionMismatch, "The session is not open to this caller.", intentID: intent.id)
        }
        noteUse(permit.sessionID)
        switch try await runner.run(intent, with: permit) {
        case .event(let event, _): return event.payload
        case .underWay: return try await awaitOutcome(of: intent, sessionID: permit.sessionID)
        }
    }

    /// Waits for the event of an intent that another request or node is running.
    private func awaitOutcome(of intent: Intent, sessionID: String) async throws -> String {
        for _ in 0..<100 {
            if let event = try await runner.recorded(sessionID: sessionID, intentID: intent.id) {
                return event.payload
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw AgentFault(.overloaded, "The intent is still under way.", intentID: intent.id)
    }
}

/// The position in the stream at which a socket starts.
struct StreamStart: Sendable, Equatable {
    let position: Int64
    /// Whether events after the requested position are no longer kept.
    let isLost: Bool

    init(resumeFrom: Int64?, first: Int64, last: Int64) {
        let beforeFirst = max(0, first - 1)
        guard let resumeFrom else {
            self.init(position: last, isLost: false)
            return
        }
        // A position past the end belongs to another stream, so its events are lost as well.
        let isKept = resumeFrom >= beforeFirst && resumeFrom <= last
        self.init(position: isKept ? resumeFrom : beforeFirst, isLost: !isKept)
    }

    private init(position: Int64, isLost: Bool) {
        self.position = position
        self.isLost = isLost
    }
}
