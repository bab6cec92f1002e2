import StateSurface

extension MemoryStore: TicketStore {
    package func put(ticket: TicketRecord, limit: Int, now: Milliseconds) async throws -> Bool {
        try write { tables -> Bool in
            try tables.refuseNUL(in: ticket.sessionID, ticket.origin, ticket.nodeID)
            let unused = tables.tickets.values.filter { $0.sessionID == ticket.sessionID && $0.expiresAt > now }
            guard unused.count < limit else { return false }
            guard tables.tickets[ticket.hash] == nil else {
                throw StateSurfaceError(.duplicate, "there is a ticket of this hash")
            }
            tables.tickets[ticket.hash] = ticket
            return true
        }
    }

    package func ticket(hash: [UInt8]) async throws -> TicketRecord? { try read { $0.tickets[hash] } }

    package func take(ticketHash: [UInt8]) async throws -> TicketRecord? {
        try write { $0.tickets.removeValue(forKey: ticketHash) }
    }
}
