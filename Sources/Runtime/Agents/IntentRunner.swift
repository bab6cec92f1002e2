import Encodings
import StateSurface
import Synchronization

/// Runs intents. An intent is recorded before it runs and its outcome afterwards, and none runs twice.
final class IntentRunner: Sendable {
    /// The result of submitting an intent.
    enum Outcome: Sendable {
        /// Its event is in the stream; `isRepeat` if it was there before.
        case event(EventRecord, isRepeat: Bool)
        /// It was submitted before and is still running; its event will be in the stream.
        case underWay
    }

    private let store: any RealmStore & ExecutionStore
    private let realms: [String: any Realm]
    /// The intents that there are, in the order of their names.
    let descriptions: [IntentDescription]
    private let uses: SessionUses
    private let nodeID: String
    private let limits: AgentLimits
    private let clock: @Sendable () -> Milliseconds
    /// The intents that have run and whose outcome could not be stored yet.
    private let unrecorded = Mutex<[(execution: ExecutionRecord, outcome: RealmOutcome)]>([])

    init(
        store: any RealmStore & ExecutionStore, realms: [any Realm], uses: SessionUses, nodeID: String,
        limits: AgentLimits, clock: @escaping @Sendable () -> Milliseconds
    ) {
        var byName: [String: any Realm] = [:]
        // The first realm with a name gets it, so another realm cannot replace a built-in intent.
        for realm in realms {
            for name in realm.intents where byName[name] == nil { byName[name] = realm }
        }
        self.store = store
        self.realms = byName
        self.descriptions = byName.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { name, realm in
            realm.descriptions.first { $0.name.utf8.elementsEqual(name.utf8) } ?? IntentDescription(name: name)
        }
        self.uses = uses
        self.nodeID = nodeID
        self.limits = limits
        self.clock = clock
    }

    /// Runs an intent with the rights of a permit that has just been checked.
    ///
    /// An id that was used before in the session does not run again, whatever its name and parameters. Once recorded,
    /// the intent runs to its end even if the caller is cancelled.
    ///
    /// - Throws: ``AgentFault`` if the session has no owner; ``StateSurfaceError`` if the intent could not be recorded,
    ///   or its outcome could not be stored in six attempts over about 1.5 seconds.
    func run(_ intent: Intent, with permit: Permit) async throws -> Outcome {
        guard let tenantID = permit.tenantID, let userID = permit.userID else {
            throw AgentFault(.sessionMismatch, "The session has no owner.", intentID: intent.id)
        }
        let execution = ExecutionRecord(
            sessionID: permit.sessionID, intentID: intent.id, intent: intent.name, nodeID: nodeID,
            epoch: permit.epoch, createdAt: clock())
        if let earlier = try await store.begin(execution: execution) { return Self.outcome(of: earlier) }
        let context = RealmContext(
            tenantID: tenantID, userID: userID, sessionID: permit.sessionID, store: store, uses: uses,
            clock: clock)
        // In a separate task, so that it is not cancelled with its caller.
        let work = Task {
            let outcome = await perform(intent, in: context)
            return try await finish(execution, outcome)
        }
        return .event(try await work.value, isRepeat: false)
    }

    /// Stores the outcomes that could not be stored before. Those that fail again are kept, unless the session has been
    /// removed with all that it ran.
    func recordLeftovers() async {
        let leftovers = unrecorded.withLock { leftovers in
            defer { leftovers = [] }
            return leftovers
        }
        for (execution, outcome) in leftovers where await !isRecorded(execution, outcome) {
            unrecorded.withLock { $0.append((execution, outcome)) }
        }
    }

    /// Whether an outcome is stored now, or has no place any more.
    private func isRecorded(_ execution: ExecutionRecord, _ outcome: RealmOutcome) async -> Bool {
        do {
            _ = try await record(execution, outcome)
            return true
        } catch {
            do {
                return try await store.execution(sessionID: execution.sessionID, intentID: execution.intentID) == nil
            } catch { return false }
        }
    }

    /// Finishes an intent of a node that is gone, with the outcome `interrupted`.
    func finishInterrupted(_ execution: ExecutionRecord) async throws {
        let outcome = RealmOutcome.failure(
            code: "interrupted", message: "The intent was cut off. It may have taken effect; it was not run again.")
        _ = try await record(execution, outcome)
    }

    /// The recorded event of an intent; nil if it is not finished.
    func recorded(sessionID: String, intentID: String) async throws -> EventRecord? {
        try await store.execution(sessionID: sessionID, intentID: intentID).flatMap(Self.event)
    }

    /// What has become of an intent.
    func state(sessionID: String, intentID: String) async throws -> Runtime.IntentState {
        guard let execution = try await store.execution(sessionID: sessionID, intentID: intentID) else {
            return .unknown
        }
        return Self.event(execution).map { .over($0.payload) } ?? .underWay
    }

    private func perform(_ intent: Intent, in context: RealmContext) async -> RealmOutcome {
        guard let realm = realms[intent.name] else {
            return .failure(code: "not_found", message: "There is no such intent.")
        }
        let outcome = await realm.perform(intent, in: context)
        if case .result(let data) = outcome, data.serialized().utf8.count > limits.maxEvent {
            return .failure(code: "payload_too_large", message: "The result is too long.")
        }
        return outcome
    }

    /// Records an outcome, and keeps it for later if the store fails, because the intent has run.
    private func finish(_ execution: ExecutionRecord, _ outcome: RealmOutcome) async throws -> EventRecord {
        for pause in [50, 100, 200, 400, 800] {
            do {
                return try await record(execution, outcome)
            } catch {
                try await Task.sleep(for: .milliseconds(pause))
            }
        }
        do {
            return try await record(execution, outcome)
        } catch {
            unrecorded.withLock { $0.append((execution, outcome)) }
            throw error
        }
    }

    private func record(_ execution: ExecutionRecord, _ outcome: RealmOutcome) async throws -> EventRecord {
        let intentID = execution.intentID
        return try await store.finish(sessionID: execution.sessionID, intentID: intentID, at: clock()) {
            AgentProtocol.event(seq: $0, intentID: intentID, outcome: outcome)
        }
    }

    /// The outcome of an id. It belongs to the intent for which the id was first used.
    private static func outcome(of earlier: ExecutionRecord) -> Outcome {
        guard let event = Self.event(earlier) else { return .underWay }
        return .event(event, isRepeat: true)
    }

    private static func event(_ execution: ExecutionRecord) -> EventRecord? {
        guard let seq = execution.seq else { return nil }
        let payload =
            execution.outcome
            ?? AgentProtocol.event(
                seq: seq, intentID: execution.intentID,
                outcome: .failure(
                    code: "outcome_dropped", message: "The intent has run. Its outcome is no longer kept."))
        return EventRecord(sessionID: execution.sessionID, seq: seq, payload: payload)
    }
}
