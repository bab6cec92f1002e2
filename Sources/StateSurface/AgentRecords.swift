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

    package init(id: String, epoch: Int64) {
        self.id = id
        self.epoch = epoch
    }
}

/// A personal access token. What it may do and how long it is valid is in its family, which has no refresh token.
package struct PersonalTokenRecord: Sendable, Equatable {
    /// SHA-256 of the token.
    package var hash: [UInt8]
    /// The id for people, `ptk_…`.
    package var id: String
    /// Whose it is.
    package var userID: String
    /// The family.
    package var familyID: String
    /// The name that its owner gave it.
    package var name: String
    /// When it ends.
    package var expiresAt: Milliseconds

    package init(
        hash: [UInt8], id: String, userID: String, familyID: String, name: String, expiresAt: Milliseconds
    ) {
        self.hash = hash
        self.id = id
        self.userID = userID
        self.familyID = familyID
        self.name = name
        self.expiresAt = expiresAt
    }
}

/// A session of an agent protocol that an upstream has opened, bound to whom it was opened for.
package struct ProtocolSessionRecord: Sendable, Equatable {
    /// SHA-256 of the resource and the session's id.
    package var hash: [UInt8]
    /// The tenant of the subject.
    package var tenantID: String
    /// The user or client.
    package var userID: String
    /// The client, with its issuer where that is another.
    package var clientID: String
    /// The family of the token that it was opened with; the session ends with it. Nil for tokens without one.
    package var familyID: String?
    /// The upstream that opened it.
    package var upstream: String
    /// When it was last used. It may be a day behind.
    package var lastUsedAt: Milliseconds

    package init(
        hash: [UInt8], tenantID: String, userID: String, clientID: String, familyID: String?, upstream: String,
        lastUsedAt: Milliseconds
    ) {
        self.hash = hash
        self.tenantID = tenantID
        self.userID = userID
        self.clientID = clientID
        self.familyID = familyID
        self.upstream = upstream
        self.lastUsedAt = lastUsedAt
    }

    /// Whether it belongs to the same caller.
    package func hasSameOwner(as other: ProtocolSessionRecord) -> Bool {
        tenantID.utf8.elementsEqual(other.tenantID.utf8) && userID.utf8.elementsEqual(other.userID.utf8)
            && clientID.utf8.elementsEqual(other.clientID.utf8)
    }
}
