import Answers
import EdgeConfiguration
import HTTPWire
import NIOCore
import Runtime
import SecurityGuard

/// What was asked for with a WebSocket upgrade once its form is known to be right.
package struct UpgradeRequest: Sendable {
    /// The value for `Sec-WebSocket-Accept`.
    package let accept: String
    /// Subprotocols offered, without those that carry credentials.
    package let protocols: [String]
    /// `?resume_from=`.
    package let resumeFrom: Int64?
    /// Who is let in.
    package let admitted: Admitted

    package init(accept: String, protocols: [String], resumeFrom: Int64?, admitted: Admitted) {
        self.accept = accept
        self.protocols = protocols
        self.resumeFrom = resumeFrom
        self.admitted = admitted
    }
}

/// The order of checks in front of every WebSocket, all before `101`: handshake, Origin, legacy parameter, one carrier
/// per kind, credentials present, kinds not swapped, token or ticket, session.
package struct UpgradeGate {
    package enum Answer {
        case admitted(UpgradeRequest)
        case refused(Problem)
        case later(EventLoopFuture<Result<UpgradeRequest, Problem>>)
    }

    /// The two credentials, or the ticket that stands for both.
    private struct Carried {
        var tokens: [[UInt8]] = []
        var sessions: [[UInt8]] = []
        var tickets: [[UInt8]] = []
    }

    /// What is never forwarded of a query.
    package static let credentialNames: [StaticString] = ["access_token", "session_id", "ticket", "session_token"]

    package let gate: Gate
    package let head: RequestHead
    /// The query as the client sent it, without `?`; nil when there is none.
    package let query: [UInt8]?
    /// In ms since the epoch.
    package let now: Int64
    /// Whether `resume_from` is the gateway's own parameter here.
    package let isAgent: Bool

    package init(gate: Gate, head: RequestHead, query: [UInt8]?, now: Int64, isAgent: Bool) {
        self.gate = gate
        self.head = head
        self.query = query
        self.now = now
        self.isAgent = isAgent
    }

    /// Runs the checks; the agent socket and `token+session` routes take token and session, or a ticket for both.
    package func judge(requirement: RouteConfiguration.Requirement, scopes: [String]) -> Answer {
        let accept: String
        switch handshake() {
        case .failure(let problem): return .refused(problem)
        case .success(let value): accept = value
        }
        if let problem = judgeOrigin() { return .refused(problem) }
        do {
            let offers = try Subprotocols.read(head)
            // Where nothing is asked for nothing is read: whose credentials these are is the upstream's business.
            if requirement == .none {
                return .admitted(
                    UpgradeRequest(accept: accept, protocols: offers.plain, resumeFrom: nil, admitted: .anyone))
            }
            if let admitted = admitKnown(requirement, scopes: scopes, offers) {
                return .admitted(
                    UpgradeRequest(accept: accept, protocols: offers.plain, resumeFrom: nil, admitted: admitted))
            }
            let query = self.query.map { RequestQuery(ByteBuffer(bytes: $0)) }
            if try query?.contains(anyOf: ["session_token"]) == true {
                return .refused(Problem(.sessionTokenUnsupported))
            }
            let carried = try carried(query, offers)
            let resumeFrom = try isAgent ? resumeFrom(query) : nil
            let make: @Sendable (Admitted) -> UpgradeRequest = { admitted in
                UpgradeRequest(accept: accept, protocols: offers.plain, resumeFrom: resumeFrom, admitted: admitted)
            }
            if requirement == .session { return judgeSecret(make) }
            return judge(carried, needsSession: requirement == .tokenAndSession, scopes: scopes, make)
        } catch let problem as Problem {
            return .refused(problem)
        } catch {
            return .refused(Problem(.invalidRequest, detail: "The query can't be read.", reason: "query"))
        }
    }

    /// The usual upgrade of a client that is no browser: both credentials in header fields, and known.
    private func admitKnown(
        _ requirement: RouteConfiguration.Requirement, scopes: [String], _ offers: Subprotocols
    ) -> Admitted? {
        guard self.query == nil, offers.tokens.isEmpty, offers.sessions.isEmpty,
            gate.memory.storeHealth == .current
        else { return nil }
        return gate.admitKnown(requirement, scopes: scopes, head, now: now)
    }

    private func handshake() -> Result<String, Problem> {
        switch WebSocketHandshake.judge(head) {
        case .accepted(let key):
            return .success(WebSocketHandshake.accept(key, of: head, sha1: HandshakeDigest.sha1))
        case .notOffered:
            return .failure(
                Problem(
                    .upgradeRequired, detail: "This path speaks WebSocket only.", reason: "no_upgrade",
                    headers: [("Upgrade", "websocket")]))
        case .unsupportedVersion:
            return .failure(Problem(.upgradeRequired, detail: "Sec-WebSocket-Version must be 13.", reason: "version"))
        case .refused(let reason):
            return .failure(Problem(.invalidRequest, detail: "WebSocket handshake: \(reason).", reason: "handshake"))
        }
    }

    /// A foreign Origin is refused; none at all is fine, since no cookie counts here.
    private func judgeOrigin() -> Problem? {
        let count = head.count(.origin)
        guard let field = head.first(.origin) else { return nil }
        let origin = head.withBytes(field.value) { Array($0) }
        return gate.memory.origins.judgeUnsafe(origin: origin, originCount: count, fetchSite: nil)
    }

    // MARK: Carriers

    private func carried(_ query: RequestQuery?, _ offers: Subprotocols) throws -> Carried {
        var carried = Carried()
        if let query {
            carried.tokens += try query.values(of: "access_token")
            carried.sessions += try query.values(of: "session_id")
            carried.tickets += try query.values(of: "ticket")
        }
        try readFields(to: &carried)
        carried.tokens += offers.tokens
        carried.sessions += offers.sessions
        if carried.tokens.count > 1 { throw twice("access token") }
        if carried.sessions.count > 1 { throw twice("session id") }
        if carried.tickets.count > 1 { throw twice("ticket") }
        if !carried.tickets.isEmpty, !carried.tokens.isEmpty || !carried.sessions.isEmpty {
            throw Problem(
                .invalidRequest, detail: "A ticket stands alone: send no access token or session id with it.",
                reason: "two_carriers")
        }
        return carried
    }

    private func readFields(to carried: inout Carried) throws {
        var authorizations = 0
        for field in head.fields {
            switch field.id {
            case .authorization:
                authorizations += 1
                let value = head.withBytes(field.value) { PresentedCredentials.authorization($0) }
                if case .bearer(let token) = value { carried.tokens.append(token) }
            case .sessionID: carried.sessions.append(head.withBytes(field.value) { Array($0) })
            default: break
            }
        }
        if authorizations > 1 { throw twice("Authorization") }
    }

    private func twice(_ what: String) -> Problem {
        Problem(.invalidRequest, detail: "More than one \(what) was sent.", reason: "two_carriers")
    }

    private func resumeFrom(_ query: RequestQuery?) throws -> Int64? {
        let values = try query?.values(of: "resume_from") ?? []
        guard let first = values.first else { return nil }
        guard values.count == 1, first.count <= 18, let number = Int64(String(decoding: first, as: UTF8.self)),
            number >= 0,
            first.allSatisfy({ (0x30...0x39).contains($0) })
        else {
            throw Problem(.invalidRequest, detail: "resume_from must be a whole number.", reason: "resume_from")
        }
        return number
    }

    // MARK: Judging

    /// A route may ask for a token alone; a session that is named all the same is not looked at then.
    private func judge(
        _ carried: Carried, needsSession: Bool, scopes: [String],
        _ make: @escaping @Sendable (Admitted) -> UpgradeRequest
    ) -> Answer {
        if let ticket = carried.tickets.first, !ticket.isEmpty {
            if CredentialShape(ticket).isSwapped(from: .ticket) { return .refused(swapped()) }
            return redeem(ticket, scopes: scopes, make)
        }
        let session = needsSession ? carried.sessions.first ?? [] : []
        guard let token = carried.tokens.first, !token.isEmpty, !needsSession || !session.isEmpty else {
            return .refused(
                Problem(.credentialsMissing, reason: needsSession ? "no_token_or_session" : "no_access_token"))
        }
        let isSwapped =
            CredentialShape(token).isSwapped(from: .accessToken) || CredentialShape(session).isSwapped(from: .sessionID)
        if isSwapped { return .refused(swapped()) }
        switch gate.identify(token) {
        case .failure(let problem): return .refused(problem)
        case .success(let principal):
            if let problem = scopeProblem(scopes, principal) { return .refused(problem) }
            guard gate.memory.storeHealth == .current else {
                return .refused(Problem(.storeUnavailable, reason: "feed_silent"))
            }
            guard needsSession else { return .admitted(make(Admitted(principal: principal, permit: nil))) }
            switch gate.admit(principal, sessionID: String(decoding: session, as: UTF8.self)) {
            case .admitted(let admitted): return .admitted(make(admitted))
            case .refused(let problem): return .refused(problem)
            case .later(let future): return .later(future.map { $0.map(make) })
            }
        }
    }

    /// A route that asks for a session alone: its secret, in the header; the cookie is no carrier here.
    private func judgeSecret(_ make: @escaping @Sendable (Admitted) -> UpgradeRequest) -> Answer {
        switch PresentedCredentials.read(head, cookies: .none) {
        case .failure(let problem): return .refused(problem)
        case .success(let credentials):
            switch gate.judge(.session, scopes: [], credentials) {
            case .admitted(let admitted):
                // Memory may say yes for what is open; nothing new is opened on it.
                guard gate.memory.storeHealth == .current else {
                    return .refused(Problem(.storeUnavailable, reason: "feed_silent"))
                }
                return .admitted(make(admitted))
            case .refused(let problem): return .refused(problem)
            case .later(let future): return .later(future.map { $0.map(make) })
            }
        }
    }

    private func swapped() -> Problem { Problem(.credentialsSwapped, reason: "wrong_kind_in_carrier") }

    private func scopeProblem(_ scopes: [String], _ principal: Principal) -> Problem? {
        guard scopes.contains(where: { !principal.has(scope: $0) }) else { return nil }
        return Problem(.insufficientScope, reason: "scope_missing")
    }

    /// A ticket is used up by being shown. The token it was bought with must still be good.
    package func redeem(
        _ ticket: [UInt8], scopes: [String], _ make: @escaping @Sendable (Admitted) -> UpgradeRequest
    ) -> Answer {
        guard gate.memory.storeHealth == .current else {
            return .refused(Problem(.storeUnavailable, reason: "feed_silent"))
        }
        let runtime = gate.memory.runtime
        let securityGuard = gate.memory.securityGuard
        let origin = head.first(.origin).map { head.string($0.value) }
        let future = gate.memory.loop.makeFutureWithTask { () -> Result<UpgradeRequest, Problem> in
            do {
                guard let grant = try await runtime.redeemTicket(ticket, origin: origin) else {
                    return .failure(Problem(.invalidToken, reason: "ticket_refused"))
                }
                let principal = try securityGuard.principal(fromFacts: grant.tokenFacts)
                    .mapError { Problem($0) }.get()
                if scopes.contains(where: { !principal.has(scope: $0) }) {
                    return .failure(Problem(.insufficientScope, reason: "scope_missing"))
                }
                let permit = try await runtime.admit(
                    sessionID: grant.sessionID, tenantID: principal.tenantID, userID: principal.subject
                ).mapError { _ in Problem(.sessionMismatch) }.get()
                guard permit.epoch == grant.epoch else {
                    return .failure(Problem(.invalidToken, reason: "ticket_of_an_older_epoch"))
                }
                return .success(make(Admitted(principal: principal, permit: permit)))
            } catch {
                return .failure(Problem.from(error))
            }
        }
        return .later(future)
    }
}

/// Reads `Sec-WebSocket-Protocol` offers, some of which carry credentials.
package struct Subprotocols {
    /// The gateway's own subprotocol: the one that is echoed back.
    package static let own = "gatehouse.v1"

    package var tokens: [[UInt8]] = []
    package var sessions: [[UInt8]] = []
    /// What may be shown to others, in order.
    package var plain: [String] = []

    package static func read(_ head: RequestHead) throws(Problem) -> Subprotocols {
        var found = Subprotocols()
        var count = 0
        for field in head.fields where field.id == .secWebSocketProtocol {
            let offers = head.withBytes(field.value) { Array($0).split(separator: UInt8(ascii: ","), maxSplits: 64) }
            for offer in offers {
                count += 1
                let trimmed = trim(offer)
                guard count <= 32, !trimmed.isEmpty, trimmed.allSatisfy(isTokenByte) else {
                    throw Problem(
                        .invalidRequest, detail: "Sec-WebSocket-Protocol is malformed.", reason: "subprotocol")
                }
                found.add(trimmed)
            }
        }
        return found
    }

    private mutating func add(_ offer: ArraySlice<UInt8>) {
        if offer.starts(with: "bearer.".utf8) {
            tokens.append(Array(offer.dropFirst("bearer.".utf8.count)))
        } else if offer.starts(with: "session.".utf8) {
            sessions.append(Array(offer.dropFirst("session.".utf8.count)))
        } else {
            plain.append(String(decoding: offer, as: UTF8.self))
        }
    }

    private static func trim(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var slice = bytes
        while let first = slice.first, first == 0x20 || first == 0x09 { slice = slice.dropFirst() }
        while let last = slice.last, last == 0x20 || last == 0x09 { slice = slice.dropLast() }
        return slice
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
