/// The caller, as an endpoint of the API has determined it.
package struct RequestCaller: Sendable, Equatable {
    /// The user, or the client that asks for itself.
    package var user: String?
    /// The user's tenant.
    package var tenant: String?
    /// The client that acts for the user.
    package var clientID: String?
    /// The first 12 characters of the session's id.
    package var session: String?

    /// A caller of whom nothing is known but what is given.
    package init(user: String? = nil, tenant: String? = nil, clientID: String? = nil, session: String? = nil) {
        self.user = user
        self.tenant = tenant
        self.clientID = clientID
        self.session = session
    }
}
