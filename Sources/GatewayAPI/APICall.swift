import Answers
import Encodings
import HTTPTypes
import Hummingbird
import Synchronization

/// One request to the API while it is being answered: what is known of it, and the cookies that its answer, refusals
/// included, will set.
package final class APICall: Sendable {
    /// The modules behind the API.
    package let services: APIServices
    /// What the edge has found out about the request.
    package let facts: APIRequestFacts
    /// The method of the request.
    package let method: HTTPRequest.Method
    /// `If-None-Match`, for the public documents.
    package let ifNoneMatch: String?
    /// The `{id}` of the path.
    let pathID: String
    /// The `{provider}` of the path.
    let pathProvider: String

    private struct Cookies: Sendable {
        var session: String?
        var refresh: String?
    }
    private let cookies = Mutex(Cookies())

    /// Takes the call from Hummingbird's request and context.
    package init(services: APIServices, request: Request, context: APIContext) {
        self.services = services
        self.facts = context.facts
        self.method = request.method
        self.ifNoneMatch = request.headers[.ifNoneMatch]
        self.pathID = context.parameters.get("id") ?? ""
        self.pathProvider = context.parameters.get("provider") ?? ""
    }

    // MARK: Cookies

    /// Sets the cookie with a session secret for `maxAge` seconds.
    func setSessionCookie(_ secret: String, maxAge: Int64) {
        let value = facts.cookieMode.sessionCookie(secret, maxAge: maxAge)
        cookies.withLock { $0.session = value }
    }

    /// Sets the cookie with a refresh token for `maxAge` seconds.
    func setRefreshCookie(_ token: String, maxAge: Int64) {
        let value = facts.cookieMode.refreshCookie(token, maxAge: maxAge)
        cookies.withLock { $0.refresh = value }
    }

    func clearSessionCookie() { setSessionCookie("", maxAge: 0) }

    func clearRefreshCookie() { setRefreshCookie("", maxAge: 0) }

    /// The `Set-Cookie` fields of the answer.
    var setCookies: [String] {
        cookies.withLock { [$0.session, $0.refresh].compactMap { $0 } }
    }
}

/// The answer of a route that does not refuse.
package struct APIAnswer: Sendable {
    /// The status.
    package var status: HTTPResponse.Status = .ok
    /// `Content-Type`; nil for an answer without a body.
    package var contentType: String? = "application/json"
    var cacheControl = "no-store"
    /// The body.
    package var body: [UInt8] = []
    /// Further fields, in the order in which they are sent.
    package var headers: [(name: String, value: String)] = []

    /// An answer with status 200 and a JSON object.
    package static func json(_ object: JSONObject) -> APIAnswer {
        APIAnswer(body: JSONValue.object(object).serializedBytes())
    }

    /// An answer with status 204.
    static var noContent: APIAnswer { APIAnswer(status: .noContent, contentType: nil) }
}
