import StateSurface

// MARK: In the tables
extension MemoryTables {
    mutating func insert(client: ClientRecord) throws {
        try refuseNUL(
            in: client.clientID, client.tenantID, client.name, client.scope.joined(), client.redirectURIs.joined())
        guard clients[client.clientID] == nil else {
            throw StateSurfaceError(.duplicate, "there is a client of this id")
        }
        clients[client.clientID] = client
    }

    mutating func disable(clientID: String, at: Milliseconds, revokedUntil: Milliseconds) -> Bool {
        guard clients[clientID] != nil else { return false }
        clients[clientID]?.disabled = true
        // Logins are of no client, and their families have this name.
        let closed = closeFamilies { $0.clientID == clientID && clientID != "gatehouse" }
        // A session of the client itself has the client as its user.
        endSessions(at: at) { session in
            session.userID == clientID || session.familyID.map { closed.contains($0) } ?? false
        }
        revoke(families: closed, until: revokedUntil)
        // Whenever they were issued.
        revoke(Revocation(kind: .subject, id: clientID, issuedUntil: .max, expiresAt: revokedUntil))
        return true
    }
}

// MARK: The role
extension MemoryStore: ClientStore {
    package func insert(client: ClientRecord) async throws { try write { try $0.insert(client: client) } }

    package func client(id: String) async throws -> ClientRecord? { try read { $0.clients[id] } }

    package func clients(limit: Int) async throws -> [ClientRecord] {
        try read { tables in
            let newest = tables.clients.values.sorted { ($1.createdAt, $0.clientID) < ($0.createdAt, $1.clientID) }
            return Array(newest.prefix(limit))
        }
    }

    package func disable(clientID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool {
        try write { $0.disable(clientID: clientID, at: at, revokedUntil: revokedUntil) }
    }
}
