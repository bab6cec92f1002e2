import AuthorizationServer
import Encodings
import SecurityGuard
import StateSurface

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
    /// The scopes of all its families.
    package let scopes: [String]
    /// When the oldest of its families was opened, in milliseconds.
    package let createdAt: Int64
    /// When one of its families last got a token, in milliseconds.
    package let lastUsedAt: Int64
}

extension AgentAccess {
    /// What the user has granted, one for each client and resource, oldest first.
    package func grants(userID: String) async throws -> [Grant] {
        var groups: [(id: String, families: [FamilyRecord])] = []
        for family in try await grantedFamilies(of: userID) {
            let id = Self.id(of: family)
            if let place = groups.firstIndex(where: { $0.id.hasSameBytes(as: id) }) {
                groups[place].families.append(family)
            } else {
                groups.append((id, [family]))
            }
        }
        var grants: [Grant] = []
        for group in groups {
            guard let first = group.families.first, let resource = first.resource else { continue }
            let name = try await store.client(id: first.clientID)?.name
            var scopes: [String] = []
            for scope in group.families.flatMap(\.scope) where !ScopeAlgebra.contains(scopes, scope) {
                scopes.append(scope)
            }
            grants.append(
                Grant(
                    id: group.id, clientID: first.clientID, clientName: name ?? first.clientID, resource: resource,
                    scopes: scopes, createdAt: group.families.map(\.createdAt).min() ?? 0,
                    lastUsedAt: group.families.map { $0.rotatedAt ?? $0.createdAt }.max() ?? 0))
        }
        return grants
    }

    /// Ends a grant of the user: its families with their tokens, unused codes and streams, and the remembered consent.
    /// - Throws: ``AgentAccessFault`` `.notFound`; the store's errors.
    package func endGrant(id: String, userID: String, tenantID: String?) async throws {
        // A family whose code was not used yet is ended as well.
        let family = try await liveFamilies(of: userID).first { Self.id(of: $0).hasSameBytes(as: id) }
        guard let family, let resource = family.resource else { throw Self.unknown }
        let end = securityGuard.familyEnd()
        guard
            try await store.endGrant(
                userID: userID, clientID: family.clientID, resource: resource, at: end.at,
                revokedUntil: end.revokedUntil)
        else { throw Self.unknown }
        audit(AuditEvent(.grantEnded, tenantID: tenantID, subject: userID, clientID: family.clientID))
    }

    private static let unknown = AgentAccessFault(.notFound, "There is no such grant.")

    /// The families whose code was used.
    private func grantedFamilies(of userID: String) async throws -> [FamilyRecord] {
        try await liveFamilies(of: userID).filter { $0.counter > 0 }
    }

    private func liveFamilies(of userID: String) async throws -> [FamilyRecord] {
        let now = clock()
        return try await store.liveFamilies(userID: userID).filter {
            $0.resource != nil && $0.absoluteExpiresAt > now && !$0.clientID.hasSameBytes(as: PersonalToken.clientID)
        }
    }

    private static func id(of family: FamilyRecord) -> String {
        GrantID.make(userID: family.userID, clientID: family.clientID, resource: family.resource ?? "")
    }
}
