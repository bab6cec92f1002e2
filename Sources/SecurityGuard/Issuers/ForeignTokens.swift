import Caching
import Libcrypto
import StateSurface
import Synchronization

/// Tokens of other issuers that are accepted at the gate (`issuers[].at_gate`), for all event loops.
///
/// A token is verified off the event loop, since its keys may have to be fetched and its account read. A verified one
/// is remembered for a while, after which it is verified again: until then a key that its issuer has withdrawn counts.
package final class ForeignTokens: Sendable {
    /// How long a verified token is remembered at most, in milliseconds.
    static let freshness: Int64 = 600_000

    private struct Reading {
        let number: UInt64
        let task: Task<Principal, any Error>
    }

    private struct Table {
        /// By the SHA-256 of the token.
        var principals: BoundedCache<[UInt8], Principal>
        var readings: [[UInt8]: Reading] = [:]
        var readingCount: UInt64 = 0
    }

    private let exchange: TokenExchange
    private let revocations: Revocations
    private let skew: Int64
    private let table: Mutex<Table>

    /// - Parameter capacity: how many tokens are remembered.
    init(_ exchange: TokenExchange, _ revocations: Revocations, capacity: Int = 65_536) {
        self.exchange = exchange
        self.revocations = revocations
        skew = exchange.policy.clockSkew
        table = Mutex(Table(principals: BoundedCache(capacity: capacity)))
    }

    /// Whether any issuer's tokens are accepted at all.
    package var isEmpty: Bool {
        exchange.resources.foreign.isEmpty && !exchange.trusted.all.contains(where: \.issuer.atGate)
    }

    /// Whether tokens of this issuer are accepted for a resource; nil stands for everything that is not a resource.
    func accepts(issuer name: String, for resource: String?) -> Bool {
        guard let trusted = exchange.trusted.all.first(where: { sameBytes($0.issuer.issuer, name) }) else {
            return false
        }
        guard let resource else { return trusted.issuer.atGate }
        return exchange.resources.accepts(issuer: name, for: resource)
    }

    /// Forgets the verified tokens: other issuers may be trusted now.
    package func forget() {
        table.withLock { table in
            table.principals.removeAll()
            // What is being verified now began with the former issuers, and does not count.
            table.readings = [:]
        }
    }

    /// Whether the token says that it is of an issuer whose tokens are accepted for this resource; nil stands for all
    /// that is no resource. Nothing of it is verified.
    package func claims(_ token: some Collection<UInt8>, resource: String?) -> Bool {
        guard let claim = exchange.gateClaim(of: token) else { return false }
        guard let resource, let claimed = claim.resource else { return resource == nil && claim.resource == nil }
        return sameBytes(claimed.identifier, resource)
    }

    /// The principal of a token that was verified lately; nil for any other.
    package func known(_ token: [UInt8], now: Int64) -> Principal? {
        let digest = Digest.sha256(token)
        guard let principal = table.withLock({ $0.principals.value(for: digest, at: now) }),
            principal.isCurrent(at: now, skew: skew), !revocations.contains(principal)
        else { return nil }
        return principal
    }

    /// Verifies a token, and finds the user that its issuer and subject map to, who is made the first time. Concurrent
    /// calls for one token share the work.
    ///
    /// - Parameter resource: what the token must be for; nil stands for all that is no resource.
    /// - Throws: ``TokenFault``; the store's errors.
    package func identify(_ token: [UInt8], resource: String?) async throws -> Principal {
        try SecurityGuard.require(try await identify(token), resource: resource).get()
    }

    private func identify(_ token: [UInt8]) async throws -> Principal {
        let now = exchange.clock()
        if let principal = known(token, now: now) { return principal }
        let digest = Digest.sha256(token)
        let task = table.withLock { table in
            if let reading = table.readings[digest] { return reading.task }
            table.readingCount &+= 1
            let number = table.readingCount
            let task = Task { try await self.read(token, digest, number) }
            table.readings[digest] = Reading(number: number, task: task)
            return task
        }
        return try await task.value
    }

    private func read(_ token: [UInt8], _ digest: [UInt8], _ number: UInt64) async throws -> Principal {
        do {
            let principal = try await exchange.principal(ofForeign: token, digest: digest)
            let isCurrent = table.withLock { table in
                guard table.readings[digest]?.number == number else { return false }
                table.readings[digest] = nil
                let end = principal.foreign?.trustedUntil ?? .min
                table.principals.insert(principal, for: digest, until: end, now: exchange.clock())
                return true
            }
            guard isCurrent else { throw TokenFault.invalid("issuers_changed") }
            // The account may have been disabled since it was read.
            guard !revocations.contains(principal) else { throw TokenFault.invalid("revoked") }
            return principal
        } catch {
            table.withLock { table in
                if table.readings[digest]?.number == number { table.readings[digest] = nil }
            }
            throw error
        }
    }
}
