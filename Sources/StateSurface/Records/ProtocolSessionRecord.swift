/// A session of an agent protocol that an upstream has opened, bound to the caller that it was opened for.
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

    /// - Parameter familyID: nil for a token without a family.
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
