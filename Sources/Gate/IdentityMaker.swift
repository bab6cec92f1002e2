import NIOCore
import Runtime
import SecurityGuard

/// Makes what an upstream is told about the caller, and remembers it, written out and signed, for as long as it is fresh.
package struct IdentityMaker {
    package let assertions: AssertionCache
    package let identities: IdentityCache
    package let securityGuard: SecurityGuard

    package init(assertions: AssertionCache, identities: IdentityCache, securityGuard: SecurityGuard) {
        self.assertions = assertions
        self.identities = identities
        self.securityGuard = securityGuard
    }

    /// The fields, each with its line end; none for an open route.
    ///
    /// - Parameters:
    ///   - route: the number of the route, which has assertions of its own.
    ///   - audience: whom the assertion is for.
    ///   - now: in ms since the epoch.
    /// - Throws: where an assertion can't be signed.
    package func identity(
        of admission: Admission, route: Int, audience: String, isRuntime: Bool, now: Int64
    ) throws -> ByteBuffer {
        guard !admission.isOpen else { return ByteBuffer() }
        let session = isRuntime ? admission.permit?.sessionID : nil
        // Read before signing: what is signed while the keys change is then not found again.
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
            // Only a caller that comes again is worth a place.
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
