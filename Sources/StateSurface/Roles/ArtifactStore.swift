/// The role for versioned artifacts. Each belongs to a tenant and user; for others it does not exist.
package protocol ArtifactStore: Sendable {
    /// Stores a new version as a draft if the newest version is `expectedVersion` (0: there is none yet; nil: any).
    /// - Returns: the stored record, or nil if the newest version is another.
    func put(artifact: ArtifactRecord, expectedVersion: Int64?) async throws -> ArtifactRecord?
    /// The newest version of an artifact, or nil.
    func artifact(tenantID: String, userID: String, name: String) async throws -> ArtifactRecord?
    /// The newest version of each artifact, by name, at most `limit`.
    func artifacts(tenantID: String, userID: String, limit: Int) async throws -> [ArtifactRecord]
    /// Changes the state of the newest version if its version and state are those given.
    /// - Returns: the stored record, or nil if they are others.
    func transition(
        tenantID: String, userID: String, name: String, version: Int64, from: ArtifactRecord.State,
        to: ArtifactRecord.State, at: Milliseconds
    ) async throws -> ArtifactRecord?
}
