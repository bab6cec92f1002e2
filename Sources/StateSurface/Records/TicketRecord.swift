/// A ticket that was issued and not yet used. Only its hash is stored, so the record gives no access.
package struct TicketRecord: Sendable, Equatable {
    /// SHA-256 of the ticket.
    package var hash: [UInt8]
    /// The session that it opens a socket for.
    package var sessionID: String
    /// The session's epoch when the ticket was issued.
    package var epoch: Int64
    /// Data that the edge gets back when the ticket is used. It contains no token.
    package var facts: [UInt8]
    /// The `Origin` of the request that it was issued for; nil if it is not bound to one.
    package var origin: String?
    /// When it expires.
    package var expiresAt: Milliseconds
    /// The id of the node instance whose clock ``expiresAt`` is in; nil if unknown.
    package var nodeID: String?

    /// - Parameter nodeID: the instance whose clock `expiresAt` is in; nil if it is not known.
    package init(
        hash: [UInt8], sessionID: String, epoch: Int64, facts: [UInt8], origin: String?, expiresAt: Milliseconds,
        nodeID: String? = nil
    ) {
        self.hash = hash
        self.sessionID = sessionID
        self.epoch = epoch
        self.facts = facts
        self.origin = origin
        self.expiresAt = expiresAt
        self.nodeID = nodeID
    }
}
