import Caching
import NIOCore
import Runtime
import SecurityGuard

/// Makes what an upstream is told about the caller, and remembers it, written out and signed, for as long as it is fresh.
struct IdentityMaker {
    let loop: LoopState
    let services: EdgeServices

    /// The fields, each with its line end; empty for anyone.
    ///
    /// - Parameter now: in ms since the epoch.
    func identity(of admitted: Admitted, route: Route, isRuntime: Bool, now: Int64) throws -> ByteBuffer {
        guard admitted.principal != nil || admitted.permit != nil else { return ByteBuffer() }
        let session = isRuntime ? admitted.permit?.sessionID : nil
        // Read before signing: what is signed while the keys change is then not found again.
        let keys = services.securityGuard.keyGeneration
        if let principal = admitted.principal,
            let kept = loop.identities.fields(
                of: principal, session: session, route: route.index, now: now, generation: keys)
        {
            return kept
        }
        var identity = ForwardedIdentity()
        identity.user = admitted.principal?.subject ?? admitted.permit?.userID
        identity.tenant = admitted.principal?.tenantID ?? admitted.permit?.tenantID
        identity.scope = admitted.principal.map { $0.scope.joined(separator: " ") }
        identity.session = session
        guard identity.user != nil else { return identity.written() }
        let key = AssertionCache.Key(
            tenant: identity.tenant, user: identity.user, client: admitted.principal?.clientID, scope: identity.scope,
            session: identity.session, route: route.index)
        if let kept = loop.assertions.fields(for: key, now: now, generation: keys) {
            // Only a caller that comes again is worth a place.
            if let principal = admitted.principal {
                loop.identities.keep(
                    kept.fields, of: principal, session: session, route: route.index, until: kept.until,
                    generation: keys)
            }
            return kept.fields
        }
        let made = try services.securityGuard.signAssertion(
            audience: route.configuration.assertionAudience, principal: admitted.principal,
            owner: (identity.tenant, identity.user), sessionID: identity.session)
        identity.assertion = made
        let fields = identity.written()
        loop.assertions.keep(fields, for: key, now: now, generation: keys)
        return fields
    }
}

/// Identity fields whose assertion was signed a moment ago, of one event loop.
///
/// An assertion is good for a minute and says nothing of the single request or token, so a caller's next requests to the
/// same route carry the same one for half of that time.
final class AssertionCache {
    /// All that the fields say.
    struct Key: Hashable {
        var tenant: String?
        var user: String?
        var client: String?
        var scope: String?
        var session: String?
        var route: Int
    }

    /// Of one key generation: what was signed before the keys changed may rest on one that is out of service.
    private var assertions: BoundedCache<Key, ByteBuffer>
    private var generation: UInt64 = 0
    static let freshness: Int64 = 25_000

    /// Some 800 bytes for each of the callers that come within half a minute.
    init(capacity: Int = 32_768) { assertions = BoundedCache(capacity: capacity) }

    /// The fields, and until when they may be used, in ms since the epoch.
    func fields(for key: Key, now: Int64, generation: UInt64) -> (fields: ByteBuffer, until: Int64)? {
        guard generation == self.generation, let entry = assertions.entry(for: key, at: now),
            entry.until - now <= Self.freshness
        else { return nil }
        return (entry.value, entry.until)
    }

    func keep(_ fields: ByteBuffer, for key: Key, now: Int64, generation: UInt64) {
        if generation != self.generation {
            self.generation = generation
            assertions.removeAll()
        }
        assertions.insert(fields, for: key, until: now + Self.freshness)
    }
}

/// The fields for callers whose verified token is in memory, found by that token's principal; of one event loop.
final class IdentityCache {
    private struct Key: Hashable {
        var principal: ObjectIdentifier
        var route: Int
    }

    private struct Entry {
        /// Held, so that no other principal can come by its identifier.
        let principal: Principal
        let session: String?
        let fields: ByteBuffer
    }

    private var entries = BoundedCache<Key, Entry>(capacity: 4096)
    private var generation: UInt64 = 0

    func fields(
        of principal: Principal, session: String?, route: Int, now: Int64, generation: UInt64
    ) -> ByteBuffer? {
        guard generation == self.generation,
            let entry = entries.entry(for: Key(principal: ObjectIdentifier(principal), route: route), at: now),
            entry.until - now <= AssertionCache.freshness, entry.value.session == session
        else { return nil }
        return entry.value.fields
    }

    func keep(
        _ fields: ByteBuffer, of principal: Principal, session: String?, route: Int, until: Int64, generation: UInt64
    ) {
        if generation != self.generation {
            self.generation = generation
            entries.removeAll()
        }
        entries.insert(
            Entry(principal: principal, session: session, fields: fields),
            for: Key(principal: ObjectIdentifier(principal), route: route), until: until)
    }
}
