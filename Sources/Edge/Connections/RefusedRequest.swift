import Answers

/// What the audit log says of a refused request. Nothing in it is a credential or a whole id.
package struct RefusedRequest: Sendable {
    /// Its id.
    package let requestID: String
    /// The client's address.
    package let client: String?
    /// The path, without credentials and without the query.
    package let path: String?
    /// The configured path of its route, `api`, `page` or `none`.
    package let route: String
    /// The host that its route is bound to.
    package let routeHost: String?
    /// The method, if it is a registered one.
    package let method: String?

    /// - Parameter client: nil where it is not known yet.
    /// - Parameter path: as ``RedactedTarget/path(of:canonical:)`` shows it.
    package init(
        requestID: String, client: String?, path: String?, route: String, routeHost: String? = nil,
        method: String? = nil
    ) {
        self.requestID = requestID
        self.client = client
        self.path = path
        self.route = route
        self.routeHost = routeHost
        self.method = method
    }
}

/// Writes a refusal to the audit log. Called on the event loop that refuses; it must not wait.
package typealias RefusalSink = @Sendable (Problem, RefusedRequest) -> Void
