import Synchronization

/// A request as the audit log names it, and its caller, as far as events have shown who that is.
package final class AuditedRequest: Sendable {
    /// The caller of a request, as far as it is known.
    package struct Subject: Sendable, Equatable {
        package var user: String?
        package var tenant: String?
        package var clientID: String?
        /// The first 12 characters of the session's id.
        package var session: String?
    }

    /// The id of the request.
    package let id: String
    /// The client's address.
    package let client: String
    /// The path, without credentials and without the query.
    package let path: String
    private let noted = Mutex(Subject())

    package init(id: String, client: String, path: String) {
        self.id = id
        self.client = client
        self.path = path
    }

    /// The caller, as the events of the request have shown it so far.
    package var subject: Subject { noted.withLock { $0 } }

    /// Adds what an event says of its subject. What was known before stays.
    package func note(user: String? = nil, tenant: String? = nil, clientID: String? = nil, session: String? = nil) {
        noted.withLock { noted in
            noted.user = noted.user ?? user
            noted.tenant = noted.tenant ?? tenant
            noted.clientID = noted.clientID ?? clientID
            noted.session = noted.session ?? session
        }
    }
}

/// The context in which the current task handles a request.
package enum AuditContext {
    /// The request that the current task answers.
    @TaskLocal package static var request: AuditedRequest?

    /// The id of the request.
    package static var requestID: String? { request?.id }
    /// The way of a sign-in: `password`, `passkey`, `issuer`, or the name of an identity provider.
    @TaskLocal package static var method: String?
    /// The operator on whose behalf the current task acts (`operator`); nil for requests of clients.
    @TaskLocal package static var operatorName: String?
}
