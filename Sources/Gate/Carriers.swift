import Answers
import EdgeConfiguration
import HTTPWire

/// The one reader of credentials: routes, sockets, tickets, the decision endpoint and the API all go through it.
///
/// Each kind of credential has its carriers, and a request may use one carrier for each kind, once: with two values the
/// gateway would have to guess which one counts.
package enum Carriers {
    /// Reads what a request may carry in header fields and cookies.
    ///
    /// - Parameters:
    ///   - query: refused where it contains an access token; nil where the query is not judged.
    ///   - cookies: which names the gateway's cookies have; ``CookieMode/none`` reads none.
    /// - Throws: `invalid_request` for a token in the query, a query that can't be read, and anything sent twice;
    ///   `header_too_large` for an `Authorization` that is longer than any token.
    package static func read(
        fields head: RequestHead, query: [UInt8]?, cookies: CookieMode
    ) throws(Problem) -> PresentedCredentials {
        try CredentialQuery.requireNoToken(in: query)
        var reader = CarrierReader(isHandshake: false, readsSecret: true)
        try reader.read(head, cookies: cookies)
        return reader.found
    }

    /// Reads what the handshake of a WebSocket may carry: in the query, in header fields, among the subprotocols.
    ///
    /// - Parameters:
    ///   - offers: the subprotocols of the same head.
    ///   - requirement: what the route asks for. A credential it does not ask for is ignored, but may still not come
    ///     twice.
    /// - Throws: `session_token_unsupported` for the query parameter `session_token`; `invalid_request` for two
    ///   carriers of a kind, a ticket beside another credential, and a query that can't be read.
    package static func read(
        handshake head: RequestHead, query: [UInt8]?, offers: Subprotocols,
        requirement: RouteConfiguration.Requirement
    ) throws(Problem) -> PresentedCredentials {
        if try CredentialQuery.contains(["session_token"], in: query) { throw Problem(.sessionTokenUnsupported) }
        var reader = CarrierReader(isHandshake: true, readsSecret: requirement == .session)
        if let query {
            for token in try CredentialQuery.values(of: "access_token", in: query) { try reader.take(token: token) }
            for session in try CredentialQuery.values(of: "session_id", in: query) { try reader.take(session: session) }
            for ticket in try CredentialQuery.values(of: "ticket", in: query) { try reader.take(ticket: ticket) }
        }
        try reader.read(head, cookies: .none)
        for token in offers.tokens { try reader.take(token: token) }
        for session in offers.sessions { try reader.take(session: session) }
        try reader.requireLoneTicket()
        // A route may ask for a token alone; a session that is named nevertheless is then ignored.
        if requirement == .token { reader.found.sessionID = nil }
        return reader.found
    }
}

/// Collects credentials, each kind once.
private struct CarrierReader {
    /// Whether values may come in other ways than header fields. A refusal of two values then names the kind of
    /// credential, not the field.
    let isHandshake: Bool
    /// Whether `Session-Secret` is a carrier here.
    let readsSecret: Bool
    var found = PresentedCredentials()
    var hasAuthorization = false

    mutating func read(_ head: RequestHead, cookies: CookieMode) throws(Problem) {
        for field in head.fields {
            switch field.id {
            case .authorization: try readAuthorization(head, field.value)
            case .sessionID: try take(session: head.withBytes(field.value) { Array($0) })
            case .sessionSecret where readsSecret:
                guard found.sessionSecret == nil else { throw Self.sentTwice("Session-Secret") }
                found.sessionSecret = head.withBytes(field.value) { Array($0) }
            case .cookie: try readCookies(head, field.value, cookies)
            default: break
            }
        }
    }

    private mutating func readAuthorization(_ head: RequestHead, _ value: ByteRange) throws(Problem) {
        guard !hasAuthorization else {
            throw isHandshake ? Self.twoCarriers("Authorization") : Self.sentTwice("Authorization")
        }
        // Refused before it is parsed. A handshake's token may come in the query as well, so its length is judged with
        // the token.
        guard isHandshake || value.count <= PresentedAuthorization.maximumBytes else {
            throw Problem(.headerTooLarge, reason: "authorization_too_long")
        }
        hasAuthorization = true
        let authorization = head.withBytes(value) { PresentedAuthorization($0) }
        guard case .bearer(let token) = authorization else {
            found.authorization = authorization
            return
        }
        // An empty token is told to be missing where one is needed, and counts as no field elsewhere.
        if !token.isEmpty { found.authorization = authorization }
        try take(token: token)
    }

    mutating func take(token: [UInt8]) throws(Problem) {
        guard found.accessToken == nil else { throw Self.twoCarriers("access token") }
        found.accessToken = token
    }

    mutating func take(session: [UInt8]) throws(Problem) {
        guard found.sessionID == nil else {
            throw isHandshake ? Self.twoCarriers("session id") : Self.sentTwice("Session-Id")
        }
        found.sessionID = session
    }

    mutating func take(ticket: [UInt8]) throws(Problem) {
        guard found.ticket == nil else { throw Self.twoCarriers("ticket") }
        found.ticket = ticket
    }

    func requireLoneTicket() throws(Problem) {
        guard found.ticket != nil, found.accessToken != nil || found.sessionID != nil else { return }
        throw Problem(
            .invalidRequest, detail: "A ticket stands alone: send no access token or session id with it.",
            reason: "two_carriers")
    }

    /// An empty cookie counts as none.
    private mutating func readCookies(_ head: RequestHead, _ value: ByteRange, _ mode: CookieMode) throws(Problem) {
        guard let sessionName = mode.sessionName, let refreshName = mode.refreshName else { return }
        var doubled: String?
        var session = found.sessionCookie
        var refresh = found.refreshCookie
        head.withBytes(value) { bytes in
            CookieHeader.forEachPair(in: bytes) { name, value in
                if name.elementsEqual(sessionName.utf8) {
                    if session != nil { doubled = "The session cookie" }
                    session = Array(value)
                } else if name.elementsEqual(refreshName.utf8) {
                    if refresh != nil { doubled = "The refresh cookie" }
                    refresh = Array(value)
                }
            }
        }
        if let doubled { throw Self.sentTwice(doubled) }
        found.sessionCookie = session.flatMap { $0.isEmpty ? nil : $0 }
        found.refreshCookie = refresh.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func sentTwice(_ what: String) -> Problem {
        Problem(.invalidRequest, detail: "\(what) was sent more than once.", reason: "sent_twice")
    }

    private static func twoCarriers(_ kind: String) -> Problem {
        Problem(.invalidRequest, detail: "More than one \(kind) was sent.", reason: "two_carriers")
    }
}
