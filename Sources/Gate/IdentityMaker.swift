import NIOCore
import Runtime
import SecurityGuard

/// Makes the identity fields for an upstream, and keeps them, written out and signed, for as long as they are fresh.
package struct IdentityMaker {
    /// Fields found by what they say.
    package let assertions: AssertionCache
    /// Fields found by the caller's verified token.
    package let identities: IdentityCache
    /// Signs the assertions.
    package let securityGuard: SecurityGuard

    /// Creates a maker with the caches of its event loop.
    package init(assertions: AssertionCache, identities: IdentityCache, securityGuard: SecurityGuard) {
        self.assertions = assertions
        self.identities = identities
        self.securityGuard = securityGuard
    }

    /// The fields, each with its line end; none for an open route.
    ///
    /// - Parameters:
    ///   - route: the number of the route, which has assertions of its own.
    ///   - audience: the `aud` of the assertion.
    ///   - now: in ms since the epoch.
    /// - Throws: where an assertion can't be signed.
    package func identity(
        of admission: Admission, route: Int, audience: String, isRuntime: Bool, now: Int64
    ) throws -> ByteBuffer {
        guard !admission.isOpen else { return ByteBuffer() }
        let session = isRuntime ? admission.permit?.sessionID : nil
        // Read before signing, so that an assertion signed while the keys change is not found again.
        let keys = securityGuard.keyGeneration
        if let principal = admission.principal,
            let kept = identities.fields(
                of: principal, session: session, route: route, now: now, generation: keys)
        {
            return kept
        }
        var identity = ForwardedIdentity()
        identity.user = admission.principal?.subject ?? admission.permit?.userID
        identity.tenant = admission.principal?.tenantID ?? admission.permit?.tenantID
        identity.scope = admission.principal.map { $0.scope.joined(separator: " ") }
        identity.session = session
        guard identity.user != nil else { return identity.written() }
        let key = AssertionCache.Key(
            tenant: identity.tenant, user: identity.user, client: admission.principal?.clientID, scope: identity.scope,
            session: identity.session, route: route)
        if let kept = assertions.fields(for: key, now: now, generation: keys) {
            // Kept by principal only from the second request on: a caller that comes once would waste a place.
            if let principal = admission.principal {
                identities.keep(
                    kept.fields, of: principal, session: session, route: route, until: kept.until,
                    generation: keys)
            }
            return kept.fields
        }
        let made = try securityGuard.signAssertion(
            audience: audience, principal: admission.principal,
            owner: (identity.tenant, identity.user), sessionID: identity.session)
        identity.assertion = made
        let fields = identity.written()
        assertions.keep(fields, for: key, now: now, generation: keys)
        return fields
    }
}
