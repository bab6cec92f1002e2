import StateSurface

/// Only the newest version of an artifact can be read, so only that one is kept.
extension MemoryStore: ArtifactStore {
    package func put(artifact: ArtifactRecord, expectedVersion: Int64?) async throws -> ArtifactRecord? {
        try write { tables -> ArtifactRecord? in
            try tables.refuseNUL(in: artifact.tenantID, artifact.userID, artifact.name, artifact.content)
            let key = ArtifactKey(tenantID: artifact.tenantID, userID: artifact.userID, name: artifact.name)
            let newest = tables.artifacts[key]?.version ?? 0
            guard expectedVersion == nil || expectedVersion == newest else { return nil }
            var stored = artifact
            stored.version = newest + 1
            stored.state = .draft
            tables.artifacts[key] = stored
            return stored
        }
    }

    package func artifact(tenantID: String, userID: String, name: String) async throws -> ArtifactRecord? {
        try read { $0.artifacts[ArtifactKey(tenantID: tenantID, userID: userID, name: name)] }
    }

    package func artifacts(tenantID: String, userID: String, limit: Int) async throws -> [ArtifactRecord] {
        try read { tables in
            let own = tables.artifacts.values.filter { $0.tenantID == tenantID && $0.userID == userID }
            return Array(own.sorted { $0.name < $1.name }.prefix(limit))
        }
    }

    package func transition(
        tenantID: String, userID: String, name: String, version: Int64, from: ArtifactRecord.State,
        to: ArtifactRecord.State, at: Milliseconds
    ) async throws -> ArtifactRecord? {
        try write { tables -> ArtifactRecord? in
            let key = ArtifactKey(tenantID: tenantID, userID: userID, name: name)
            guard var stored = tables.artifacts[key], stored.version == version, stored.state == from else {
                return nil
            }
            stored.state = to
            stored.updatedAt = at
            tables.artifacts[key] = stored
            return stored
        }
    }
}
