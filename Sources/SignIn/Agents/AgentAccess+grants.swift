import AuthorizationServer
import Encodings
import OAuth
import SecurityGuard
import StateSurface

/// Why a client has access: a family of tokens, or a consent with which it gets one without asking.
private struct GrantPart {
    let id: String
    let clientID: String
    let resource: String
    let scopes: [String]
    let createdAt: Int64
    let lastUsedAt: Int64

    init?(_ family: FamilyRecord) {
        guard let resource = family.resource else { return nil }
        id = GrantID.make(userID: family.userID, clientID: family.clientID, resource: resource)
        clientID = family.clientID
        self.resource = resource
        scopes = family.scope
        createdAt = family.createdAt
        lastUsedAt = family.rotatedAt ?? family.createdAt
    }

    init(_ consent: ConsentRecord) {
        id = GrantID.make(userID: consent.userID, clientID: consent.clientID, resource: consent.resource)
        clientID = consent.clientID
        resource = consent.resource
        scopes = consent.scope
        createdAt = consent.createdAt
        lastUsedAt = consent.createdAt
    }
}

extension AgentAccess {
    /// What the user has granted, one for each client and resource, oldest first. A consent that outlives what it was
    /// given for is one of them: the client gets access again without asking.
    package func grants(userID: String) async throws -> [Grant] {
        // A family whose code was not used yet gives no access.
        let families = try await liveFamilies(of: userID).filter { $0.counter > 0 }
        var parts = families.compactMap { GrantPart($0) }
        parts += try await store.consents(userID: userID).map { GrantPart($0) }
        parts.sort { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        var groups: [(id: String, parts: [GrantPart])] = []
        for part in parts {
            if let place = groups.firstIndex(where: { $0.id.hasSameBytes(as: part.id) }) {
                groups[place].parts.append(part)
            } else {
                groups.append((part.id, [part]))
            }
        }
        var grants: [Grant] = []
        for group in groups {
            guard let first = group.parts.first else { continue }
            let name = try await store.client(id: first.clientID)?.name
            var scopes: [String] = []
            for scope in group.parts.flatMap(\.scopes) where !Scope.contains(scopes, scope) {
                scopes.append(scope)
            }
            grants.append(
                Grant(
                    id: group.id, clientID: first.clientID, clientName: name ?? first.clientID,
                    resource: first.resource, scopes: scopes, createdAt: first.createdAt,
                    lastUsedAt: group.parts.map(\.lastUsedAt).max() ?? first.lastUsedAt))
        }
        return grants
    }

    /// Ends a grant of the user: its families with their tokens, unused codes and streams, and the remembered consent.
    /// - Throws: ``AgentAccessFault`` `.notFound`; the store's errors.
    package func endGrant(id: String, userID: String, tenantID: String?) async throws {
        // A family whose code was not used yet is ended as well.
        var parts = try await liveFamilies(of: userID).compactMap { GrantPart($0) }
        parts += try await store.consents(userID: userID).map { GrantPart($0) }
        guard let part = parts.first(where: { $0.id.hasSameBytes(as: id) }) else { throw Self.unknown }
        let end = securityGuard.familyEnd()
        guard
            try await store.endGrant(
                userID: userID, clientID: part.clientID, resource: part.resource, at: end.at,
                revokedUntil: end.revokedUntil)
        else { throw Self.unknown }
        audit(AuditEvent(.grantEnded, tenantID: tenantID, subject: userID, clientID: part.clientID))
    }

    private static let unknown = AgentAccessFault(.notFound, "There is no such grant.")

    private func liveFamilies(of userID: String) async throws -> [FamilyRecord] {
        let now = clock()
        return try await store.liveFamilies(userID: userID).filter {
            $0.resource != nil && $0.absoluteExpiresAt > now && !$0.clientID.hasSameBytes(as: PersonalToken.clientID)
        }
    }
}
