/// A person's consent that a client may have scopes of a resource, remembered so that it is not asked for again.
package struct ConsentRecord: Sendable, Equatable {
    /// The person.
    package var userID: String
    /// The client.
    package var clientID: String
    /// The resource's identifier.
    package var resource: String
    /// The scopes that were shown and allowed.
    package var scope: [String]
    /// When.
    package var createdAt: Milliseconds

    /// - Parameter scope: the scopes that were shown and allowed.
    package init(userID: String, clientID: String, resource: String, scope: [String], createdAt: Milliseconds) {
        self.userID = userID
        self.clientID = clientID
        self.resource = resource
        self.scope = scope
        self.createdAt = createdAt
    }
}

/// What an authorisation has to do with the remembered consent of its user, client and resource.
package enum GrantConsent: Sendable, Equatable {
    /// The person was asked, and it is not remembered.
    case asked
    /// The person was asked, and it is remembered in place of an earlier consent.
    case remembered(at: Milliseconds)
    /// The person was not asked: a consent is remembered that covers the family's scopes.
    case reliedOn
}

/// The session in which a person authorises a client, as it was when the request was judged.
package struct AuthorizingSession: Sendable, Equatable {
    /// The session.
    package var id: String
    /// Its epoch.
    package var epoch: Int64

    /// - Parameter epoch: the session's epoch when the request was judged.
    package init(id: String, epoch: Int64) {
        self.id = id
        self.epoch = epoch
    }
}
