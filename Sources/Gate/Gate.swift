import Answers
import EdgeConfiguration
import HTTPWire
import Runtime
import SecurityGuard

/// Decides which requests may pass. Routes, sockets and the decision endpoint all ask it, and only it makes an
/// ``Admission``.
///
/// Every request goes through the same checks in the same order, in ``judge(_:_:)``. Decisions come from memory, on the
/// event loop and without waiting; where memory can't say yes, the verdict is a question to the store. There is no
/// second order for requests that memory knows: ``judge(_:_:)`` takes a shorter way to read their credentials, and asks
/// the same ``recall(_:_:_:now:)`` about the caller.
package struct Gate {
    let memory: GateMemory

    /// Creates a gate that judges by this memory.
    package init(_ memory: GateMemory) { self.memory = memory }

    // MARK: The order of checks

    /// Judges a request by what its route asks for.
    ///
    /// 1. The origin of a socket, and of any request to a resource, before any credential is read.
    /// 2. A request to an open route needs no more checks.
    /// 3. One carrier for each kind of credential, none of them in a URL that is logged.
    /// 4. The credentials the route asks for are present, and none has the form of another kind. A handshake is first
    ///    told what is missing, any other request first which credential is in the wrong place.
    /// 5. A cookie alone, which a browser attaches by itself, admits no request of a foreign page.
    /// 6. The token or the ticket; the rights of its owner.
    /// 7. The session, and whether what memory holds is recent enough to be trusted.
    ///
    /// - Throws: the refusal.
    package func judge(_ request: GateRequest, _ terms: AccessTerms) throws(Problem) -> GateVerdict {
        let head = request.head
        // 1. Origin.
        if request.opensSocket || terms.resource != nil { try requireAllowedOrigin(head) }
        let offers = request.opensSocket ? try Subprotocols.read(head) : Subprotocols()
        // 2. Open routes. Credentials are not judged here, only removed before the request is forwarded.
        if terms.requirement == .none {
            if !request.opensSocket { try CredentialQuery.requireReadable(request.query) }
            return .admitted(Admission(.open(OpenRoute(.requiresNothing))))
        }
        // 3. to 5. find no fault with plain credentials that memory knows.
        if let known = admitKnown(request, offers, terms) { return .admitted(known) }
        // 3. Carriers.
        let credentials: PresentedCredentials
        if request.opensSocket {
            credentials = try Carriers.read(
                handshake: head, query: request.query, offers: offers, requirement: terms.requirement)
            if request.way == .agentHandshake { _ = try CredentialQuery.resumeFrom(request.query) }
        } else {
            credentials = try Carriers.read(fields: head, query: request.query, cookies: request.cookies)
        }
        // 4. Present, and of the right kind.
        if request.opensSocket {
            try requireEverything(credentials, terms.requirement)
            try credentials.requireShapes()
        } else {
            try credentials.requireShapes()
            // 5. Cross-site.
            try CORS(memory.origins, head, isPublic: false, method: request.method)
                .requireAllowed(credentials, for: terms.requirement)
            if memory.storeHealth == .lost { throw Problem(.storeUnavailable, reason: "grace_over") }
            try requireFirst(credentials, terms.requirement)
        }
        // 6 and 7.
        return try judge(credentials, terms, opensSocket: request.opensSocket, head)
    }

    /// 6. and 7. The credentials themselves.
    private func judge(
        _ credentials: PresentedCredentials, _ terms: AccessTerms, opensSocket: Bool, _ head: RequestHead
    ) throws(Problem) -> GateVerdict {
        if terms.requirement == .session { return try admitSecret(credentials, terms, opensSocket: opensSocket) }
        if let ticket = credentials.ticket, !ticket.isEmpty { return try redeem(ticket, terms, head) }
        let token = credentials.accessToken ?? []
        if PersonalAccess.isMeant(by: token) {
            guard PersonalAccess.counts(for: terms) else {
                throw Problem(.invalidToken, reason: "personal_token_not_here")
            }
            return try admit(personalToken: token, credentials, terms, opensSocket: opensSocket)
        }
        if let foreignTokens = memory.foreignTokens, foreignTokens.shared.claims(token, resource: terms.resource) {
            guard let principal = foreignTokens.known(token, now: memory.now(), resource: terms.resource) else {
                return try admit(foreign: token, credentials, terms)
            }
            return try admit(principal, credentials, terms, opensSocket: opensSocket)
        }
        return try admit(try identify(token, terms), credentials, terms, opensSocket: opensSocket)
    }

    // MARK: 1. Origin

    /// A foreign `Origin` opens no socket. A request without `Origin` is fine, since cookies do not count for sockets.
    private func requireAllowedOrigin(_ head: RequestHead) throws(Problem) {
        guard let field = head.first(.origin) else { return }
        try memory.origins.requireAllowed(
            origin: head.withBytes(field.value) { Array($0) }, originCount: head.count(.origin), fetchSite: nil)
    }

    // MARK: 3. Carriers

    /// The usual request, and the usual handshake of a client that is not a browser: plain credentials, a token that was
    /// verified before and, where the route asks for one, a session that memory knows to be the caller's.
    ///
    /// nil for any other request, which says nothing about it: the whole order decides. Copies and allocates nothing but
    /// the id of a session.
    func admitKnown(_ request: GateRequest, _ offers: Subprotocols, _ terms: AccessTerms) -> Admission? {
        guard request.opensSocket ? memory.storeHealth == .current : memory.storeHealth != .lost,
            let plain = PlainCredentials(request, offers, terms.requirement),
            let principal = remembered(plain, terms, now: request.receivedAt),
            case .admitted(let admission)? = try? recall(principal, plain, terms, now: request.receivedAt)
        else { return nil }
        noteUse(of: admission)
        return admission
    }

    private func remembered(_ plain: PlainCredentials, _ terms: AccessTerms, now: Int64) -> Principal? {
        plain.withToken { token in
            guard PersonalAccess.counts(for: terms) || !PersonalAccess.isMeant(by: token) else { return nil }
            return memory.tokens.remembered(token, now: now, resource: terms.resource)
                ?? memory.foreignTokens?.known(Array(token), now: now, resource: terms.resource)
        }
    }

    // MARK: 4. Presence

    /// Refuses a handshake that lacks a credential: a handshake must carry all of them at once.
    private func requireEverything(
        _ credentials: PresentedCredentials, _ requirement: RouteConfiguration.Requirement
    ) throws(Problem) {
        if requirement != .session, credentials.ticket?.isEmpty == false { return }
        switch requirement {
        case .none: return
        case .session: try requireFirst(credentials, requirement)
        case .token: try require(credentials.accessToken, "no_access_token")
        case .tokenAndSession:
            try require(credentials.accessToken, "no_token_or_session")
            try require(credentials.sessionID, "no_token_or_session")
        }
    }

    /// Refuses a request without the credential that is judged first. A missing session is refused after the token was
    /// judged.
    private func requireFirst(
        _ credentials: PresentedCredentials, _ requirement: RouteConfiguration.Requirement
    ) throws(Problem) {
        switch requirement {
        case .none: return
        case .session: try require(credentials.sessionSecret ?? credentials.sessionCookie, "no_session_secret")
        case .token, .tokenAndSession: try require(credentials.accessToken, "no_access_token")
        }
    }

    private func require(_ value: [UInt8]?, _ reason: String) throws(Problem) {
        guard value?.isEmpty != false else { return }
        throw Problem(.credentialsMissing, reason: reason)
    }

    // MARK: 6. Token

    /// Who an access token speaks for.
    private func identify(_ token: [UInt8], _ terms: AccessTerms) throws(Problem) -> Principal {
        switch memory.tokens.principal(for: token, now: memory.now(), resource: terms.resource) {
        case .success(let principal): return principal
        case .failure(let fault): throw Problem(fault)
        }
    }
}
