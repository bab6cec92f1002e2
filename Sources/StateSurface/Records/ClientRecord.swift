/// An OAuth client. Its secret is random, so it is stored as SHA-256.
package struct ClientRecord: Sendable, Equatable {
    /// The id, `cli_…`.
    package var clientID: String
    /// The tenant it belongs to; empty for a client that belongs to none, because it registered itself.
    package var tenantID: String
    /// The name for people.
    package var name: String
    /// SHA-256 of the secret.
    package var secretHash: [UInt8]
    /// The scope that it may ask for.
    package var scope: [String]
    /// Whether the client is disabled.
    package var disabled: Bool
    /// When it was created.
    package var createdAt: Milliseconds
    /// Where it may receive authorization codes; empty for a client that gets none.
    package var redirectURIs: [String]
    /// Whether it has no secret. ``secretHash`` is then empty.
    package var isPublic: Bool
    /// How it became known: `operator`, `registration` or `document`.
    package var origin: String
    /// When it is forgotten unless it is used before; nil for never.
    package var expiresAt: Milliseconds?

    /// By default a confidential client that the operator has added, and that does not expire.
    package init(
        clientID: String, tenantID: String, name: String, secretHash: [UInt8], scope: [String],
        disabled: Bool = false, createdAt: Milliseconds, redirectURIs: [String] = [], isPublic: Bool = false,
        origin: String = "operator", expiresAt: Milliseconds? = nil
    ) {
        self.clientID = clientID
        self.tenantID = tenantID
        self.name = name
        self.secretHash = secretHash
        self.scope = scope
        self.disabled = disabled
        self.createdAt = createdAt
        self.redirectURIs = redirectURIs
        self.isPublic = isPublic
        self.origin = origin
        self.expiresAt = expiresAt
    }
}
