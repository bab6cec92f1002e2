import Encodings
import Libcrypto
import StateSurface
import Synchronization

/// What a ticket stands for.
package struct TicketGrant: Sendable, Equatable {
    package let sessionID: String
    /// The session's epoch when the ticket was made: it dies with it.
    package let epoch: Int64
    /// Whatever the edge wants back: the facts of the token that the ticket was bought with. Opaque here.
    package let tokenFacts: [UInt8]
    /// The Origin it was bought from; nil binds none.
    package let origin: String?
    package let expiresAt: Milliseconds

    package init(
        sessionID: String, epoch: Int64, tokenFacts: [UInt8], origin: String?, expiresAt: Milliseconds
    ) {
        self.sessionID = sessionID
        self.epoch = epoch
        self.tokenFacts = tokenFacts
        self.origin = origin
        self.expiresAt = expiresAt
    }
}

/// Where tickets lie until they are used. Each can be taken once, by whoever comes first.
package protocol TicketStore: Sendable {
    /// False when there is no room.
    func put(_ grant: TicketGrant, hash: [UInt8], now: Milliseconds) async throws -> Bool
    /// Removes and returns.
    func take(hash: [UInt8]) async throws -> TicketGrant?
}

/// Single-use, short-lived stand-ins for a token, for browsers that open a socket.
struct TicketBook: Sendable {
    static let prefix = "tkt_"
    static let lifetime: Milliseconds = 30_000
    private static let byteCount = 32

    let store: any TicketStore

    /// A new ticket's text; nil when too many are out.
    func mint(for permit: Permit, tokenFacts: [UInt8], origin: String?, now: Milliseconds) async throws -> String? {
        let bytes = SecureRandom.bytes(Self.byteCount)
        let grant = TicketGrant(
            sessionID: permit.sessionID, epoch: permit.epoch, tokenFacts: tokenFacts, origin: origin,
            expiresAt: now + Self.lifetime)
        guard try await self.store.put(grant, hash: Digest.sha256(bytes), now: now) else { return nil }
        return Self.prefix + Base64URL.encode(bytes)
    }

    /// Uses a ticket up, and says what it stands for. One shown at the wrong door is used up as well.
    func redeem(_ text: some Collection<UInt8>, origin: String?, now: Milliseconds) async throws -> TicketGrant? {
        guard let bytes = PrefixedRandom.bytes(of: text, prefix: Self.prefix, count: Self.byteCount),
            let grant = try await self.store.take(hash: Digest.sha256(bytes)),
            now < grant.expiresAt, grant.expiresAt - now <= Self.lifetime
        else { return nil }
        guard let bound = grant.origin else { return grant }
        guard let origin, origin.utf8.elementsEqual(bound.utf8) else { return nil }
        return grant
    }
}

/// Tickets of one node, in memory: those of a node that goes down go with it, 30 seconds early at most.
final class MemoryTicketStore: TicketStore {
    private let grants = Mutex<[[UInt8]: TicketGrant]>([:])
    private let capacity: Int

    init(capacity: Int = 65_536) {
        self.capacity = capacity
    }

    func put(_ grant: TicketGrant, hash: [UInt8], now: Milliseconds) -> Bool {
        self.grants.withLock { grants in
            if grants.count >= self.capacity { grants = grants.filter { $0.value.expiresAt > now } }
            guard grants.count < self.capacity else { return false }
            grants[hash] = grant
            return true
        }
    }

    func take(hash: [UInt8]) -> TicketGrant? {
        self.grants.withLock { $0.removeValue(forKey: hash) }
    }
}
