import Encodings
import Libcrypto
import StateSurface

/// The data of a redeemed ticket.
package struct TicketGrant: Sendable, Equatable {
    /// The session that the ticket was issued for.
    package let sessionID: String
    /// The session's epoch when the ticket was issued. The ticket is valid only in it.
    package let epoch: Int64
    /// The data that the edge stored with the ticket: the facts of the token it was issued for.
    package let tokenFacts: [UInt8]

    init(_ record: TicketRecord) {
        self.sessionID = record.sessionID
        self.epoch = record.epoch
        self.tokenFacts = record.facts
    }
}

/// Single-use, short-lived tickets in place of a token, for browsers that open a socket. They are stored as hashes, so
/// that a ticket of one node can be used on any other.
package struct TicketBook: Sendable {
    /// The prefix of every ticket.
    package static let prefix = "tkt_"
    static let lifetime: Milliseconds = 30_000
    /// The number of unused tickets that a session may have.
    static let limit = 64
    private static let byteCount = 32

    let store: any TicketStore
    /// The id of this node instance, by whose clock its tickets expire.
    let nodeID: String
    /// The tolerance for other nodes' clocks, in milliseconds.
    let clockSkew: Milliseconds

    /// Issues a ticket; nil if the session has too many unused ones.
    func mint(for permit: Permit, tokenFacts: [UInt8], origin: String?, now: Milliseconds) async throws -> String? {
        let bytes = SecureRandom.bytes(Self.byteCount)
        let ticket = TicketRecord(
            hash: Digest.sha256(bytes), sessionID: permit.sessionID, epoch: permit.epoch, facts: tokenFacts,
            origin: origin, expiresAt: now + Self.lifetime, nodeID: nodeID)
        guard try await store.put(ticket: ticket, limit: Self.limit, now: now) else { return nil }
        return Self.prefix + Base64URL.encode(bytes)
    }

    /// Uses a ticket and returns its data. A ticket from the wrong Origin is used up as well; one that has expired is
    /// not, because that may be due to a clock.
    ///
    /// It is read before it is taken, so that invalid tickets cause no writes.
    func redeem(_ text: some Collection<UInt8>, origin: String?, now: Milliseconds) async throws -> TicketGrant? {
        guard let bytes = PrefixedRandom.bytes(of: text, prefix: Self.prefix, count: Self.byteCount) else { return nil }
        let hash = Digest.sha256(bytes)
        guard let seen = try await store.ticket(hash: hash), isInTime(seen, now: now),
            let ticket = try await store.take(ticketHash: hash)
        else { return nil }
        guard let bound = ticket.origin else { return TicketGrant(ticket) }
        guard let origin, origin.utf8.elementsEqual(bound.utf8) else { return nil }
        return TicketGrant(ticket)
    }

    /// Whether the ticket is within its lifetime: exactly for this node's own tickets, and with the clock tolerance for
    /// those of others.
    private func isInTime(_ ticket: TicketRecord, now: Milliseconds) -> Bool {
        let isOwn = ticket.nodeID?.utf8.elementsEqual(nodeID.utf8) ?? false
        let skew = isOwn ? 0 : clockSkew
        let left = ticket.expiresAt.subtractingReportingOverflow(now)
        return !left.overflow && left.partialValue > -skew && left.partialValue <= Self.lifetime + skew
    }
}
