import Runtime
import SecurityGuard

/// Makes what an upstream is told about the caller, and remembers the signed part for as long as it is fresh.
struct IdentityMaker {
    let loop: LoopState
    let services: EdgeServices

    func identity(of admitted: Admitted, route: Route, isRuntime: Bool) throws -> ForwardedIdentity {
        guard admitted.principal != nil || admitted.permit != nil else { return .none }
        var identity = ForwardedIdentity()
        identity.user = admitted.principal?.subject ?? admitted.permit?.userID
        identity.tenant = admitted.principal?.tenantID ?? admitted.permit?.tenantID
        identity.scope = admitted.principal.map { $0.scope.joined(separator: " ") }
        if isRuntime { identity.session = admitted.permit?.sessionID }
        guard identity.user != nil else { return identity }
        let key = AssertionCache.Key(
            tenant: identity.tenant, user: identity.user, client: admitted.principal?.clientID, scope: identity.scope,
            session: identity.session, route: route.index)
        let now = loop.now()
        if let kept = loop.assertions.assertion(for: key, now: now) {
            identity.assertion = kept
        } else {
            let made = try services.securityGuard.signAssertion(
                audience: route.configuration.assertionAudience, principal: admitted.principal,
                owner: (identity.tenant, identity.user), sessionID: identity.session)
            loop.assertions.keep(made, for: key, now: now, generation: services.securityGuard.keyGeneration)
            identity.assertion = made
        }
        return identity
    }
}

/// Assertions that were signed a moment ago, of one event loop.
///
/// An assertion is good for a minute and says nothing of the single request or token, so a caller's next requests to the
/// same route carry the same one for half of that time.
final class AssertionCache {
    struct Key: Hashable {
        var tenant: String?
        var user: String?
        var client: String?
        var scope: String?
        var session: String?
        var route: Int
    }

    private struct Entry {
        var text: String
        var until: Int64
    }

    private var entries: [Key: Entry] = [:]
    private var generation: UInt64 = 0
    private static let capacity = 4096
    private static let freshness: Int64 = 25_000

    func assertion(for key: Key, now: Int64) -> String? {
        guard let entry = entries[key], now < entry.until, entry.until - now <= Self.freshness else { return nil }
        return entry.text
    }

    func keep(_ text: String, for key: Key, now: Int64, generation: UInt64) {
        if entries.count >= Self.capacity || generation != self.generation {
            entries.removeAll(keepingCapacity: true)
            self.generation = generation
        }
        entries[key] = Entry(text: text, until: now + Self.freshness)
    }
}
