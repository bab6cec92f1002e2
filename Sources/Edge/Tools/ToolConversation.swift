import AgentTools
import Answers
import AuthorizationServer
import Encodings
import HTTPWire
import Libcrypto
import Runtime
import SecurityGuard
import SignIn
import StateSurface

/// What a request to the tools is answered with. Used off the event loop.
///
/// A protocol session is a session of the gateway, opened by `initialize` with the caller's token and bound to tenant,
/// user, client and resource like those of other servers. A call is an intent of that session, whose id is made from
/// the request's: a call that is sent again does not run again. In the revision without sessions, all requests of a
/// user and client share one session, and ids mean nothing.
struct ToolConversation: Sendable {
    /// What follows from a request.
    enum Outcome: Sendable {
        /// A complete answer. `session` is what the client is told of a new session.
        case answer(status: Int, session: String? = nil, body: JSONValue? = nil)
        /// Events, sent as they come.
        case stream(ToolStream)
    }

    /// What the exchange does next, on its event loop.
    struct Decision: Sendable {
        let outcome: Outcome
        /// A protocol session that memory did not know.
        var learnt: ProtocolSessionRecord?
    }

    /// Stands for the upstream in the records of sessions that are this server's own.
    private static let place = "runtime"

    /// What the request says, its body included.
    let facts: ToolFacts
    let runtime: Runtime
    let sessions: ProtocolSessionAccess
    let tools: ToolService

    /// Judges the request, and runs what is not answered with a stream. A call without a stream runs here, so this may
    /// take as long as the call.
    /// - Throws: `RPCFault`, `Problem`, the store's errors.
    func decide() async throws -> Decision {
        let era = try ToolEra(version: facts.headers.version)
        switch facts.method {
        case .post: return try await post(era)
        case .get where era != .single: return try await listen(era)
        case .delete where era != .single: return try await end()
        default:
            throw Problem(
                .methodNotAllowed, headers: [(name: "Allow", value: era == .single ? "POST" : "DELETE, GET, POST")])
        }
    }

    // MARK: Messages

    private func post(_ era: ToolEra) async throws -> Decision {
        switch try RPCBody(facts.body) {
        case .one(let message):
            if era == .single { return try await alone(message) }
            if case .request(let request) = message, request.method.hasSameBytes(as: "initialize") {
                return try await begin(request, era)
            }
            return try await one(message, era)
        case .many(let messages):
            guard era.allowsBatch else {
                throw RPCFault(.invalidRequest, "Only the revision 2025-03-26 has batches.")
            }
            return try await batch(messages, era)
        }
    }

    private func begin(_ request: RPCRequest, _ era: ToolEra) async throws -> Decision {
        guard facts.session == nil else {
            throw RPCFault(.invalidRequest, "The session has begun already.", id: request.id)
        }
        guard case .result(let result) = try tools.server.step(request, era) else {
            throw RPCFault(.invalidRequest, "This is no request to begin with.", id: request.id)
        }
        let opened = try await tools.signIn.openProtocolSession(
            with: facts.principal, clientAddress: facts.client
        ) { record(Array($0.utf8), upstream: Self.place) }
        let body = JSONValue.object(RPCText.response(request.id, result))
        return Decision(
            outcome: .answer(status: 200, session: opened.sessionID, body: body), learnt: opened.protocolSession)
    }

    private func one(_ message: RPCMessage, _ era: ToolEra) async throws -> Decision {
        let (permit, learnt) = try await permit()
        guard case .request(let request) = message else {
            return Decision(outcome: .answer(status: 202), learnt: learnt)
        }
        let outcome = try await outcome(of: request, era, request.id.intentID) { permit }
        return Decision(outcome: outcome, learnt: learnt)
    }

    /// A request of the revision without sessions.
    private func alone(_ message: RPCMessage) async throws -> Decision {
        guard case .request(let request) = message else { return Decision(outcome: .answer(status: 202)) }
        try facts.headers.check(request)
        let intentID = "mcp-" + Base64URL.encode(SecureRandom.bytes(16))
        return Decision(outcome: try await outcome(of: request, .single, intentID) { try await standingPermit() })
    }

    private func outcome(
        of request: RPCRequest, _ era: ToolEra, _ intentID: String, _ permit: () async throws -> Permit
    ) async throws -> Outcome {
        switch try tools.server.step(request, era) {
        case .result(let result):
            return .answer(status: 200, body: .object(RPCText.response(request.id, result)))
        case .call(let call):
            let run = ToolRun(
                call: call, id: request.id, intentID: intentID, permit: try await permit(), era: era)
            if facts.takesStream { return .stream(.call(run)) }
            return .answer(status: 200, body: .object(await perform(run)))
        }
    }

    private func batch(_ messages: [RPCMessage], _ era: ToolEra) async throws -> Decision {
        let (permit, learnt) = try await permit()
        var answers: [JSONValue] = []
        for case .request(let request) in messages {
            do {
                guard !request.method.hasSameBytes(as: "initialize") else {
                    throw RPCFault(.invalidRequest, "'initialize' is never part of a batch.", id: request.id)
                }
                switch try tools.server.step(request, era) {
                case .result(let result): answers.append(.object(RPCText.response(request.id, result)))
                case .call(let call):
                    let run = ToolRun(
                        call: call, id: request.id, intentID: request.id.intentID, permit: permit, era: era)
                    answers.append(.object(await perform(run)))
                }
            } catch let fault as RPCFault {
                answers.append(.object(RPCText.error(fault)))
            }
        }
        guard !answers.isEmpty else { return Decision(outcome: .answer(status: 202), learnt: learnt) }
        return Decision(outcome: .answer(status: 200, body: .array(answers)), learnt: learnt)
    }

    // MARK: Streams and the end

    private func listen(_ era: ToolEra) async throws -> Decision {
        guard facts.takesStream else {
            throw Problem(.invalidRequest, detail: "Accept has to name text/event-stream.", reason: "not_acceptable")
        }
        let (permit, learnt) = try await permit()
        guard let text = facts.lastEventID else {
            return Decision(outcome: .stream(.listen(permit, after: nil, era)), learnt: learnt)
        }
        switch ToolEventID(text) {
        case .call(let id)?: return Decision(outcome: .stream(.resume(id, permit, era)), learnt: learnt)
        case .event(let seq)?: return Decision(outcome: .stream(.listen(permit, after: seq, era)), learnt: learnt)
        case nil:
            throw Problem(.invalidRequest, detail: "Last-Event-ID is none of this server's.", reason: "event_id")
        }
    }

    private func end() async throws -> Decision {
        let (permit, _) = try await permit()
        try await tools.signIn.end(
            protocolSession: record(Array(permit.sessionID.utf8)), of: permit.sessionID)
        return Decision(outcome: .answer(status: 204))
    }

    // MARK: Running

    /// Runs a call, and returns the answer to its request. Never throws: a call that fails is answered with a JSON-RPC
    /// error, and its effects may have happened.
    func perform(_ run: ToolRun) async -> JSONObject {
        let intent = Intent(id: run.intentID, name: run.call.name, params: run.call.arguments)
        do {
            let event = try await runtime.execute(permit: run.permit, intent: intent)
            return RPCText.response(run.id, tools.server.result(ofEvent: event, run.era))
        } catch let fault as AgentFault {
            return RPCText.error(RPCFault(.internalError, fault.message, id: run.id))
        } catch {
            return RPCText.error(
                RPCFault(.internalError, "The store can't be reached. The call may have taken effect.", id: run.id))
        }
    }

    /// Waits for the answer to a call that was begun before, on whichever node. Asks the store at growing intervals, up
    /// to a second, until the call is over or the stream has ended.
    func awaited(_ id: RPCID, _ permit: Permit, _ era: ToolEra) async -> JSONObject {
        var pause = 50
        // A call is told to the client a moment before it is stored.
        let stored = ContinuousClock.now + .seconds(6)
        while !Task.isCancelled {
            // While the store is silent, it is asked again.
            switch try? await runtime.state(ofIntent: id.intentID, in: permit) {
            case .over(let event)?: return RPCText.response(id, tools.server.result(ofEvent: event, era))
            case .unknown? where ContinuousClock.now < stored: break
            case .unknown?: return RPCText.error(RPCFault(.invalidRequest, "There is no such call.", id: id))
            case .underWay?, nil: break
            }
            try? await Task.sleep(for: .milliseconds(pause))
            pause = min(1_000, pause * 2)
        }
        return RPCText.error(RPCFault(.internalError, "The stream has ended.", id: id))
    }

    // MARK: Sessions

    private func record(_ id: [UInt8], upstream: String = "") -> ProtocolSessionRecord {
        ResourceStage.record(
            id, at: facts.resource, of: facts.principal, upstream: upstream, now: sessions.clock())
    }

    /// The permit for the session that the request names, and the session, if memory did not know it.
    private func permit() async throws -> (Permit, ProtocolSessionRecord?) {
        guard let id = facts.session else {
            throw RPCFault(.invalidRequest, "Mcp-Session-Id is missing: begin with 'initialize'.")
        }
        let learnt = facts.isKnown ? nil : try await ResourceStage.find(for: record(id), sessions)
        guard let permit = try await admit(String(decoding: id, as: UTF8.self)) else { throw ResourceStage.unknown }
        return (permit, learnt)
    }

    /// The permit for the session that all requests without one share. It is made anew after its end.
    private func standingPermit() async throws -> Permit {
        let principal = facts.principal
        // No id of a session has a line break.
        let name = ["all requests of", principal.tenantID, principal.subject, principal.qualifiedClientID]
            .joined(separator: "\n")
        let asked = record(Array(name.utf8))
        var bound = try await sessions.store.protocolSession(hash: asked.hash, since: 0)
        for _ in 0..<3 {
            if let known = bound, let permit = try await admit(known.upstream) {
                try await ResourceStage.recordUse(of: known, sessions)
                return permit
            }
            // Another request may be faster: then its session is taken in the next round.
            bound = try await tools.signIn.openSharedSession(
                with: principal, clientAddress: facts.client, record: asked, replacing: bound)
        }
        throw Problem(.overloaded, reason: "session_contended")
    }

    /// The permit for one of the caller's live sessions; nil if it is none.
    private func admit(_ sessionID: String) async throws -> Permit? {
        let (tenantID, userID) = (facts.principal.tenantID, facts.principal.subject)
        if case .granted(let permit) = runtime.view.admit(
            sessionID: sessionID, tenantID: tenantID, userID: userID, now: sessions.clock())
        {
            runtime.noteUse(sessionID)
            return permit
        }
        guard
            case .success(let permit) = try await runtime.admit(
                sessionID: sessionID, tenantID: tenantID, userID: userID)
        else { return nil }
        return permit
    }
}
