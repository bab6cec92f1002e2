import Answers
import AuthorizationServer
import EdgeCore
import Gate
import HTTPWire
import NIOCore
import Proxy
import SecurityGuard
import StateSurface

/// Binds the sessions that an upstream opens, and ends those that a client deletes, before the answer is passed on.
///
/// A class, so that passing it on costs one reference count and not one per member. Confined to its event loop.
final class ProtocolSessionJudge: AnswerJudge {
    private let stage: ResourceStage
    private let principal: Principal
    /// The id of the session that the request belongs to.
    private let own: [UInt8]?
    /// Whether the request deletes that session.
    private let isDelete: Bool
    private let sessions: ProtocolSessionAccess

    /// - Parameter own: nil where the request names no session.
    init(stage: ResourceStage, principal: Principal, own: [UInt8]? = nil, isDelete: Bool = false) {
        self.stage = stage
        self.principal = principal
        self.own = own
        self.isDelete = isDelete
        sessions = stage.services.protocolSessions
    }

    /// An answer without a session passes at once, and so does one that repeats the request's. A new one passes once
    /// the store has bound it.
    func judge(_ head: ResponseHead, of upstream: UpstreamTarget) -> AnswerJudgement {
        if isDelete, let own, (200..<300).contains(head.status) { return end(own, answer: head) }
        guard let field = head.first(.mcpSessionID) else { return .pass }
        let id = head.withBytes(field.value) { Array($0) }
        guard head.count(.mcpSessionID) == 1, ProtocolSession.isID(id) else { return .refuse(Self.malformed) }
        if id == own { return .pass }
        let record = stage.record(id, of: principal, upstream: upstream.place)
        let loop = stage.loop
        let sessions = sessions
        let asked = loop.protocolSessions.endings
        let bound = loop.loop.makeFutureWithTask { try await sessions.store.bind(protocolSession: record) }
        let memory = NIOLoopBound(loop, eventLoop: loop.loop)
        return .ask(
            bound.map { isOwn -> Problem? in
                guard isOwn else { return Self.foreign }
                memory.value.protocolSessions.keep(record, asked: asked, now: memory.value.now())
                return nil
            })
    }

    /// Ends a session that the upstream has ended. An answer that names another session at the same time is not passed
    /// on: that session would have no owner.
    private func end(_ id: [UInt8], answer: ResponseHead) -> AnswerJudgement {
        let record = stage.record(id, of: principal)
        let sessions = sessions
        let namesAnother = answer.fields.contains { field in
            field.id == .mcpSessionID && answer.withBytes(field.value) { !$0.elementsEqual(id) }
        }
        let refusal = namesAnother ? Self.malformed : nil
        stage.loop.protocolSessions.forget(record.hash)
        return .ask(
            stage.loop.loop.makeFutureWithTask { () -> Problem? in
                try await sessions.store.end(protocolSession: record)
                return refusal
            })
    }

    private static let malformed = Problem(.upstreamUnavailable, reason: "protocol_session_malformed")
    private static let foreign = Problem(.upstreamUnavailable, reason: "protocol_session_foreign")
}
