/// Registered OAuth clients.
package protocol ClientStore: Sendable {
    /// - Throws: `.duplicate` when the id is taken.
    func insert(client: ClientRecord) async throws
    func client(id: String) async throws -> ClientRecord?
    /// Any clients, newest first, for operators.
    func clients(limit: Int) async throws -> [ClientRecord]
    /// In one transaction: disabled flag set; every family that was opened for the client and every session of its own
    /// or of such a family ended; every token issued to the client itself revoked, whenever it was made.
    /// - Returns: whether there is such a client.
    func disable(clientID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool
}
