/// The role for registered OAuth clients.
package protocol ClientStore: Sendable {
    /// Inserts a client.
    /// - Throws: `.duplicate` if the id exists.
    func insert(client: ClientRecord) async throws
    /// The client with this id, or nil.
    func client(id: String) async throws -> ClientRecord?
    /// All clients, newest first, at most `limit`, for operators.
    func clients(limit: Int) async throws -> [ClientRecord]
    /// Disables the client, ends every family opened for it and every session of the client or of such a family, and
    /// revokes every token issued to the client itself, all in one transaction.
    /// - Returns: whether there is such a client.
    func disable(clientID: String, at: Milliseconds, revokedUntil: Milliseconds) async throws -> Bool
}
