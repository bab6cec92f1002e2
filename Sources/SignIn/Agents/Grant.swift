/// What a user has granted to a client for a resource.
package struct Grant: Sendable, Equatable {
    /// The id, `grt_…`.
    package let id: String
    /// The client.
    package let clientID: String
    /// The client's name; its id if it has none.
    package let clientName: String
    /// The resource.
    package let resource: String
    /// The scopes of all its families, and those that it gets without asking.
    package let scopes: [String]
    /// When the oldest of its families was opened or the consent given, in milliseconds.
    package let createdAt: Int64
    /// When one of its families last got a token, in milliseconds; when the consent was given if that was later.
    package let lastUsedAt: Int64
}
