/// A refused request, as the operator's API shows it: without credentials or whole ids.
package struct RefusalEntry: Sendable, Equatable {
    /// When the answer was done, in ms since the epoch.
    package var time: Int64
    /// The id that the answer had (`X-Request-Id`).
    package var requestID: String
    /// The client's address.
    package var client: String?
    /// The method, if it is a registered one.
    package var method: String?
    /// Path and query, with credentials cut as in the access log, and a long one cut behind its beginning.
    package var path: String?
    /// The configured path, `api`, `page` or `none`.
    package var route: String
    /// The host that the route is bound to.
    package var routeHost: String?
    /// The status of the answer; nil where none was sent.
    package var status: Int?
    /// The refusal's code.
    package var code: String
    /// What the code does not say, as in the audit log.
    package var reason: String?
    /// The user, where a token had been accepted.
    package var user: String?
    /// The first 12 characters of the session's id.
    package var session: String?

    package init(time: Int64, requestID: String, route: String, code: String) {
        self.time = time
        self.requestID = requestID
        self.route = route
        self.code = code
    }
}
