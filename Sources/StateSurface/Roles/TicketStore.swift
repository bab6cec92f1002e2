/// The role for single-use tickets, which are stored as hashes.
package protocol TicketStore: Sendable {
    /// Stores a ticket until it is taken or expires.
    /// - Returns: false, without storing it, if its session already has `limit` tickets that are valid at `now`. Of
    ///   concurrent calls no more are stored than of calls one after the other.
    func put(ticket: TicketRecord, limit: Int, now: Milliseconds) async throws -> Bool
    /// A ticket that has not been taken, without taking it.
    func ticket(hash: [UInt8]) async throws -> TicketRecord?
    /// Removes a ticket and returns it. Of several concurrent calls, one gets it.
    func take(ticketHash: [UInt8]) async throws -> TicketRecord?
}
