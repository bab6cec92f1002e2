import Answers
import Encodings
import HTTPTypes
import Hummingbird
import Synchronization

/// One request to the API while it is being answered: what is known of it, and the cookies that its answer, refusals
/// included, will set. Made for each request by ``APIResponder`` and used by its route alone, in one task. Only the
/// cookies can change.
package final class APICall: Sendable {
    /// The modules behind the API.
    package let services: APIServices
    /// What the edge has found out about the request.
    package let facts: APIRequestFacts
    /// The method of the request.
    package let method: HTTPRequest.Method
    /// `If-None-Match`, for the public documents.
    package let ifNoneMatch: String?
    /// The `{id}` of the path. Empty on a path without it. It is as the client sent it: no route has checked its form.
    let pathID: String
    /// The `{provider}` of the path. Empty on a path without it.
    let pathProvider: String

    private struct Cookies: Sendable {
        var session: String?
        var refresh: String?
    }
    private let cookies = Mutex(Cookies())

    /// Takes the call from Hummingbird's request and context. Reads nothing from the request's body: the edge has
    /// collected it, and it is in ``facts``.
    package init(services: APIServices, request: Request, context: APIContext) {
        self.services = services
        self.facts = context.facts
        self.method = request.method
        self.ifNoneMatch = request.headers[.ifNoneMatch]
        self.pathID = context.parameters.get("id") ?? ""
        self.pathProvider = context.parameters.get("provider") ?? ""
    }

    // MARK: Cookies

    /// Sets the cookie with a session secret for `maxAge` seconds. Replaces what an earlier call of this request has
    /// set. Without effect where no cookies are set (``CookieMode/none``).
    func setSessionCookie(_ secret: String, maxAge: Int64) {
        let value = facts.cookieMode.sessionCookie(secret, maxAge: maxAge)
        cookies.withLock { $0.session = value }
    }

    /// Sets the cookie with a refresh token for `maxAge` seconds. The same rules as for
    /// ``setSessionCookie(_:maxAge:)``.
    func setRefreshCookie(_ token: String, maxAge: Int64) {
        let value = facts.cookieMode.refreshCookie(token, maxAge: maxAge)
        cookies.withLock { $0.refresh = value }
    }

    /// Has the browser forget the session's secret, also where it had none.
    func clearSessionCookie() { setSessionCookie("", maxAge: 0) }

    /// Has the browser forget the refresh token, also where it had none.
    func clearRefreshCookie() { setRefreshCookie("", maxAge: 0) }

    /// The `Set-Cookie` fields of the answer. At most two, in a fixed order: that of the session first.
    var setCookies: [String] {
        cookies.withLock { [$0.session, $0.refresh].compactMap { $0 } }
    }
}
