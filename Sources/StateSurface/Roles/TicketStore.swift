/// Single-use tickets, as hashes.
package protocol TicketStore: Sendable {
    /// Keeps a ticket until it is taken or expires.
    /// - Returns: false, with nothing kept, when its session has `limit` of them already that are good at `now`.
    func put(ticket: TicketRecord, limit: Int, now: Milliseconds) async throws -> Bool
    /// A ticket that has not been taken, left where it is.
    func ticket(hash: [UInt8]) async throws -> TicketRecord?
    /// Removes a ticket and returns it: of any number of racers one gets it.
    func take(ticketHash: [UInt8]) async throws -> TicketRecord?
}
