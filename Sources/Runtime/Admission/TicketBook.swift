import Encodings
import Libcrypto
import StateSurface

/// What a ticket stands for.
package struct TicketGrant: Sendable, Equatable {
    package let sessionID: String
    /// The session's epoch when the ticket was made: it dies with it.
    package let epoch: Int64
    /// Whatever the edge wants back: the facts of the token that the ticket was bought with. Opaque here.
    package let tokenFacts: [UInt8]

    init(_ record: TicketRecord) {
        self.sessionID = record.sessionID
        self.epoch = record.epoch
        self.tokenFacts = record.facts
    }
}

/// Single-use, short-lived stand-ins for a token, for browsers that open a socket. They lie in the store, as hashes,
/// so that one bought from one node can be used at any other.
struct TicketBook: Sendable {
    static let prefix = "tkt_"
    static let lifetime: Milliseconds = 30_000
    /// How many unused ones a session may have.
    static let limit = 64
    private static let byteCount = 32

    let store: any TicketStore
    /// This run of this node: by whose clock its tickets expire.
    let nodeID: String
    /// By how much other nodes' clocks may differ.
    let clockSkew: Milliseconds

    /// A new ticket's text; nil when too many of the session are out.
    func mint(for permit: Permit, tokenFacts: [UInt8], origin: String?, now: Milliseconds) async throws -> String? {
        let bytes = SecureRandom.bytes(Self.byteCount)
        let ticket = TicketRecord(
            hash: Digest.sha256(bytes), sessionID: permit.sessionID, epoch: permit.epoch, facts: tokenFacts,
            origin: origin, expiresAt: now + Self.lifetime, nodeID: self.nodeID)
        guard try await self.store.put(ticket: ticket, limit: Self.limit, now: now) else { return nil }
        return Self.prefix + Base64URL.encode(bytes)
    }

    /// Uses a ticket up, and says what it stands for. One shown from the wrong Origin is used up as well; one that is
    /// out of its time, which may be a fault of a clock, is not.
    ///
    /// It is looked at before it is taken, so made-up tickets do not keep the store's writer busy.
    func redeem(_ text: some Collection<UInt8>, origin: String?, now: Milliseconds) async throws -> TicketGrant? {
        guard let bytes = PrefixedRandom.bytes(of: text, prefix: Self.prefix, count: Self.byteCount) else { return nil }
        let hash = Digest.sha256(bytes)
        guard let seen = try await self.store.ticket(hash: hash), self.isInTime(seen, now: now),
            let ticket = try await self.store.take(ticketHash: hash)
        else { return nil }
        guard let bound = ticket.origin else { return TicketGrant(ticket) }
        guard let origin, origin.utf8.elementsEqual(bound.utf8) else { return nil }
        return TicketGrant(ticket)
    }

    /// Exact for this node's own tickets; for another's, as exact as its clock may be expected to be.
    private func isInTime(_ ticket: TicketRecord, now: Milliseconds) -> Bool {
        let isOwn = ticket.nodeID?.utf8.elementsEqual(self.nodeID.utf8) ?? false
        let skew = isOwn ? 0 : self.clockSkew
        let left = ticket.expiresAt.subtractingReportingOverflow(now)
        return !left.overflow && left.partialValue > -skew && left.partialValue <= Self.lifetime + skew
    }
}
