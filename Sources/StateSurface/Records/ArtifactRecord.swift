/// A version of an artifact. It belongs to a tenant and user; for others it does not exist.
package struct ArtifactRecord: Sendable, Equatable {
    /// The state of a version. It changes only in the order of the cases.
    package enum State: String, Sendable, Hashable { case draft, active, archived }
    /// The owner's tenant.
    package var tenantID: String
    /// The owner.
    package var userID: String
    /// The name, unique for the owner.
    package var name: String
    /// The version, from 1.
    package var version: Int64
    /// The state of this version.
    package var state: State
    /// The content as JSON text.
    package var content: String
    /// When the version was stored or its state changed.
    package var updatedAt: Milliseconds

    /// A version with all of its values; the store replaces none of them.
    package init(
        tenantID: String, userID: String, name: String, version: Int64, state: State, content: String,
        updatedAt: Milliseconds
    ) {
        self.tenantID = tenantID
        self.userID = userID
        self.name = name
        self.version = version
        self.state = state
        self.content = content
        self.updatedAt = updatedAt
    }
}
