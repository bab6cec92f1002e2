import Answers
import SecurityGuard

/// What the edge has found out about a request before an API route gets it. No credential in it has been judged, except
/// as ``verdict`` says. The edge fills it in on its event loop, and gives it to ``APIResponder`` once the body is
/// complete.
package struct APIRequestFacts: Sendable {
    /// The id of the request.
    package var requestID: String
    /// Canonical path, `/api/sessions…` already written as `/api/session…`.
    package var path: String
    /// The query text without `?`, if any.
    package var query: String?
    /// The client's address as limits count it (an IPv6 address as its /64). The client is the peer, or whom a trusted
    /// proxy names.
    package var clientAddress: String
    /// The client's address as the logs name it.
    package var peerAddress: String
    /// The path as the logs show it, without credentials and ids. For the audit log only; no route goes by it.
    package var shownPath: String
    /// The method as the client sent it, if it is a registered one. For the audit log only; no route goes by it.
    package var shownMethod: String?
    /// How the `Authorization` field was used.
    package var authorization: PresentedAuthorization
    /// `Session-Secret`, at most one.
    package var sessionSecret: String?
    /// `Session-Id`, at most one.
    package var sessionID: String?
    /// Value of the gateway's session cookie in the mode of this connection. Nil where cookies are not used
    /// (``CookieMode/none``).
    package var sessionCookie: String?
    /// Value of the gateway's refresh cookie in the mode of this connection.
    package var refreshCookie: String?
    /// Which names the gateway's cookies have for this request.
    package var cookieMode: CookieMode
    /// Whether a browser sent the request (`Sec-Fetch-Site` is there).
    package var isBrowser: Bool
    /// The `Origin` field, if any.
    package var origin: String?
    /// `Content-Type`, lower-cased, without parameters. The edge has refused a body of another type than its endpoint
    /// takes, with 415.
    package var contentType: String?
    /// The whole body, at most 64 KiB. The edge has refused longer ones with 413 (400 for the announcement of a
    /// logout).
    package var body: [UInt8]
    /// The result of checking the token of `Authorization`, where the edge has already done so. It uses the memory of
    /// its event loop, so that a token is not verified again with every request.
    package var verdict: Result<Principal, TokenFault>?
    /// Whether a browser asks for a page that it will show. Then refusals of the way to a provider and back are pages.
    package var isNavigation: Bool

    /// - Parameter peerAddress: empty for the same as `clientAddress`.
    /// - Parameter shownPath: nil for the path itself.
    package init(
        requestID: String, path: String, query: String? = nil, clientAddress: String,
        peerAddress: String = "", shownPath: String? = nil, shownMethod: String? = nil,
        authorization: PresentedAuthorization,
        sessionSecret: String? = nil, sessionID: String? = nil, sessionCookie: String? = nil,
        refreshCookie: String? = nil, cookieMode: CookieMode, isBrowser: Bool, origin: String? = nil,
        contentType: String? = nil, body: [UInt8], verdict: Result<Principal, TokenFault>? = nil,
        isNavigation: Bool = false
    ) {
        self.requestID = requestID
        self.path = path
        self.query = query
        self.clientAddress = clientAddress
        self.peerAddress = peerAddress.isEmpty ? clientAddress : peerAddress
        self.shownPath = shownPath ?? path
        self.shownMethod = shownMethod
        self.authorization = authorization
        self.sessionSecret = sessionSecret
        self.sessionID = sessionID
        self.sessionCookie = sessionCookie
        self.refreshCookie = refreshCookie
        self.cookieMode = cookieMode
        self.isBrowser = isBrowser
        self.origin = origin
        self.contentType = contentType
        self.body = body
        self.verdict = verdict
        self.isNavigation = isNavigation
    }
}
