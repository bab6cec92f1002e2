import Answers
import AuthorizationServer
import EdgeCore
import Gate
import HTTPWire
import Libcrypto
import NIOCore
import Proxy
import SecurityGuard
import StateSurface

/// What is particular to requests of a protected resource: the protocol session that they name must be the caller's,
/// and those that the upstream opens are bound to the caller before the caller learns of them. Used on the event loop,
/// except ``look(for:_:)``.
struct ResourceStage {
    let loop: LoopState
    let services: EdgeServices
    /// The identifier of the resource (RFC 8707 section 2).
    let resource: String

    /// What a request says of its session.
    enum NamedSession {
        /// It is of a revision without sessions: the field is neither read nor forwarded.
        case ignored
        /// There is no session.
        case none
        /// It belongs to this session, if there is one with this id.
        case one([UInt8])
    }

    /// The session that the request names. One whose id is malformed is told to be unknown, which no session has.
    ///
    /// - Throws: `invalid_request` for a field that is there more than once; `not_found` for an id that is malformed.
    func session(namedBy head: RequestHead) throws(Problem) -> NamedSession {
        switch claim(of: head) {
        case .ignored: return .ignored
        case .none: return .none
        case .one(let id): return .one(id)
        case .many:
            throw Problem(.invalidRequest, detail: "Mcp-Session-Id was sent more than once.", reason: "sent_twice")
        case .malformed: throw Self.unknown
        }
    }

    private func claim(of head: RequestHead) -> ProtocolSession.Claim {
        let version = head.only(.mcpProtocolVersion).map { field in head.withBytes(field.value) { Array($0) } }
        guard head.present.contains(.mcpSessionID) else {
            return ProtocolSession.claim(ids: [], version: version)
        }
        let ids = head.fields.filter { $0.id == .mcpSessionID }.map { field in head.withBytes(field.value) { Array($0) }
        }
        return ProtocolSession.claim(ids: ids, version: version)
    }

    /// What a session of a resource is found by. Ids themselves are not stored: they open the session at the upstream.
    static func hash(_ id: [UInt8], of resource: String) -> [UInt8] {
        Digest.sha256(Array(resource.utf8) + [0x0A] + id)
    }

    /// A record that says whose the session would be.
    func record(_ id: [UInt8], of principal: Principal, upstream: String = "") -> ProtocolSessionRecord {
        Self.record(id, at: resource, of: principal, upstream: upstream, now: loop.now())
    }

    /// The same for any resource and time.
    static func record(
        _ id: [UInt8], at resource: String, of principal: Principal, upstream: String, now: Int64
    ) -> ProtocolSessionRecord {
        ProtocolSessionRecord(
            hash: hash(id, of: resource), tenantID: principal.tenantID, userID: principal.subject,
            clientID: principal.qualifiedClientID, familyID: principal.familyID, upstream: upstream,
            lastUsedAt: now)
    }

    /// The upstream of a session that memory knows to be the caller's; nil if the store has to be asked. The owner is
    /// tenant, user and client together; a session whose token family was revoked counts as not known.
    func remembered(_ asked: ProtocolSessionRecord) -> String? {
        guard let known = loop.protocolSessions.session(asked.hash, now: loop.now()), known.hasSameOwner(as: asked),
            !isEnded(known)
        else { return nil }
        return known.upstream
    }

    private func isEnded(_ record: ProtocolSessionRecord) -> Bool {
        guard let familyID = record.familyID else { return false }
        return services.securityGuard.isRevoked(tokenID: nil, familyID: familyID, subject: nil, issuedAt: 0)
    }

    /// Asks the store for the session, and records its use at most once a day.
    /// - Throws: `not_found`, the same for an unknown session and for that of another owner; `store_unavailable`.
    static func look(
        for asked: ProtocolSessionRecord, _ desk: ProtocolSessionDesk
    ) async throws(Problem) -> ProtocolSessionRecord {
        let now = desk.clock()
        do {
            guard
                let known = try await desk.store.protocolSession(
                    hash: asked.hash, since: now &- ProtocolSession.idle), known.hasSameOwner(as: asked)
            else { throw unknown }
            if known.lastUsedAt < now &- day { try await desk.store.touch(protocolSession: asked.hash, at: now) }
            return known
        } catch {
            throw Problem.from(error)
        }
    }

    /// The refusal of a session that is unknown or has another owner.
    static let unknown = Problem(
        .notFound, detail: "There is no such protocol session. Initialize a new one.", reason: "protocol_session")
    private static let day: Int64 = 86_400_000
}

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
    private let desk: ProtocolSessionDesk

    /// - Parameter own: nil where the request names no session.
    init(stage: ResourceStage, principal: Principal, own: [UInt8]? = nil, isDelete: Bool = false) {
        self.stage = stage
        self.principal = principal
        self.own = own
        self.isDelete = isDelete
        desk = stage.services.protocolSessions
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
        let desk = desk
        let asked = loop.protocolSessions.endings
        let bound = loop.loop.makeFutureWithTask { try await desk.store.bind(protocolSession: record) }
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
        let desk = desk
        let namesAnother = answer.fields.contains { field in
            field.id == .mcpSessionID && answer.withBytes(field.value) { !$0.elementsEqual(id) }
        }
        let refusal = namesAnother ? Self.malformed : nil
        stage.loop.protocolSessions.forget(record.hash)
        return .ask(
            stage.loop.loop.makeFutureWithTask { () -> Problem? in
                try await desk.store.end(protocolSession: record)
                return refusal
            })
    }

    private static let malformed = Problem(.upstreamUnavailable, reason: "protocol_session_malformed")
    private static let foreign = Problem(.upstreamUnavailable, reason: "protocol_session_foreign")
}
