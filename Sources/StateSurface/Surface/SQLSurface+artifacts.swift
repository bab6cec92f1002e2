/// Only the newest version of an artifact can be read, so only that one is stored.
extension SQLSurface {
    func put(artifact: ArtifactRecord, expectedVersion: Int64?) async throws -> ArtifactRecord? {
        try await write { transaction in
            var values: [SQLValue] = [
                .text(artifact.tenantID), .text(artifact.userID), .text(artifact.name), .text(artifact.content),
                .integer(artifact.updatedAt),
            ]
            if let expectedVersion, expectedVersion != 0 { values.append(.integer(expectedVersion)) }
            return try transaction.row(Self.putSQL(expectedVersion), values).map(ArtifactRecord.init(row:))
        }
    }

    private static func putSQL(_ expectedVersion: Int64?) -> String {
        let insert = """
            INSERT INTO artifacts (\(ArtifactRecord.columns)) VALUES (?1, ?2, ?3, 1, 'draft', ?4, ?5)
            ON CONFLICT (tenant_id, user_id, name) DO
            """
        let returning = "RETURNING \(ArtifactRecord.columns)"
        return switch expectedVersion {
        case nil:
            """
            \(insert) UPDATE SET version = artifacts.version + 1, state = 'draft', content = excluded.content,
            updated_at = excluded.updated_at \(returning)
            """
        case 0:
            "\(insert) NOTHING \(returning)"
        default:
            """
            UPDATE artifacts SET version = version + 1, state = 'draft', content = ?4, updated_at = ?5
            WHERE tenant_id = ?1 AND user_id = ?2 AND name = ?3 AND version = ?6 \(returning)
            """
        }
    }

    func artifact(tenantID: String, userID: String, name: String) async throws -> ArtifactRecord? {
        try await row(
            "SELECT \(ArtifactRecord.columns) FROM artifacts WHERE tenant_id = ?1 AND user_id = ?2 AND name = ?3",
            [.text(tenantID), .text(userID), .text(name)]
        ).map(ArtifactRecord.init(row:))
    }

    func artifacts(tenantID: String, userID: String, limit: Int) async throws -> [ArtifactRecord] {
        try await rows(
            """
            SELECT \(ArtifactRecord.columns) FROM artifacts WHERE tenant_id = ?1 AND user_id = ?2
            ORDER BY name LIMIT ?3
            """, [.text(tenantID), .text(userID), .limit(limit)]
        ).map(ArtifactRecord.init(row:))
    }

    func transition(
        tenantID: String, userID: String, name: String, version: Int64, from: ArtifactRecord.State,
        to: ArtifactRecord.State, at: Milliseconds
    ) async throws -> ArtifactRecord? {
        try await write { transaction in
            try transaction.row(
                """
                UPDATE artifacts SET state = ?6, updated_at = ?7 WHERE tenant_id = ?1 AND user_id = ?2 AND name = ?3
                AND version = ?4 AND state = ?5 RETURNING \(ArtifactRecord.columns)
                """,
                [
                    .text(tenantID), .text(userID), .text(name), .integer(version), .text(from.rawValue),
                    .text(to.rawValue), .integer(at),
                ]
            ).map(ArtifactRecord.init(row:))
        }
    }
}
