import Answers
import AuthorizationServer
import EdgeCore
import Gate
import HTTPWire
import Libcrypto
import SecurityGuard
import StateSurface

/// What is particular to requests of a protected resource: the protocol session that they name must be the caller's,
/// and those that the upstream opens are bound to the caller before the caller learns of them. Used on the event loop,
/// except ``find(for:_:)``.
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
    static func find(
        for asked: ProtocolSessionRecord, _ sessions: ProtocolSessionAccess
    ) async throws(Problem) -> ProtocolSessionRecord {
        let now = sessions.clock()
        do {
            guard
                let known = try await sessions.store.protocolSession(
                    hash: asked.hash, since: now &- ProtocolSession.idle), known.hasSameOwner(as: asked)
            else { throw unknown }
            try await recordUse(of: known, sessions)
            return known
        } catch {
            throw Problem.from(error)
        }
    }

    /// Records the use of a session at most once a day.
    /// - Throws: the store's errors.
    static func recordUse(of known: ProtocolSessionRecord, _ sessions: ProtocolSessionAccess) async throws {
        let now = sessions.clock()
        guard known.lastUsedAt < now &- day else { return }
        try await sessions.store.touch(protocolSession: known.hash, at: now)
    }

    /// The refusal of a session that is unknown or has another owner.
    static let unknown = Problem(
        .notFound, detail: "There is no such protocol session. Initialize a new one.", reason: "protocol_session")
    private static let day: Int64 = 86_400_000
}
