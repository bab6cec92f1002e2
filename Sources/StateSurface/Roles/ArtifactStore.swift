/// Versioned artifacts. Each belongs to (tenant, user): another's is unknown.
package protocol ArtifactStore: Sendable {
    /// Stores a new version as a draft if the newest version is still `expectedVersion` (0: none yet, nil: any).
    /// - Returns: the stored record, or nil when the version has moved on.
    func put(artifact: ArtifactRecord, expectedVersion: Int64?) async throws -> ArtifactRecord?
    func artifact(tenantID: String, userID: String, name: String) async throws -> ArtifactRecord?
    /// The newest version of each, by name.
    func artifacts(tenantID: String, userID: String, limit: Int) async throws -> [ArtifactRecord]
    /// Moves the newest version from one state to another if both version and state are still those.
    /// - Returns: the stored record, or nil when they are not.
    func transition(
        tenantID: String, userID: String, name: String, version: Int64, from: ArtifactRecord.State,
        to: ArtifactRecord.State, at: Milliseconds
    ) async throws -> ArtifactRecord?
}
