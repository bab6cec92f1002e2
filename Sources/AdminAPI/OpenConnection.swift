/// An open socket or stream.
package struct OpenConnection: Sendable, Equatable {
    /// What it is.
    package enum Kind: String, Sendable, CaseIterable {
        /// A WebSocket that ends in the gateway.
        case socket
        /// A WebSocket that is relayed to an upstream.
        case relay
        /// An answer that goes on until its lease ends, such as an event stream.
        case stream
    }

    /// The id of the request that opened it.
    package var id: String
    /// What is open.
    package var kind: Kind
    /// The configured path, or `api`.
    package var route: String
    /// The first 12 characters of the session's id.
    package var session: String?
    /// The session's owner, or the token's subject.
    package var userID: String?
    /// That user's tenant.
    package var tenantID: String?
    /// The client that acts for the user, or for itself.
    package var clientID: String?
    /// The client's address.
    package var client: String?
    /// When its request came, in ms since the epoch.
    package var since: Int64
    /// When it ends if nothing extends it; nil where nothing ends it by time.
    package var endsAt: Int64?

    package init(id: String, kind: Kind, route: String, since: Int64) {
        self.id = id
        self.kind = kind
        self.route = route
        self.since = since
    }
}
