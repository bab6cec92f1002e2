import EdgeConfiguration
import HTTPWire
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

    /// What the fields depend on besides the caller.
    package struct Place {
        /// The number of the route, which has assertions of its own.
        let route: Int
        /// The `aud` of the assertion.
        let audience: String
        /// What the upstream is told.
        let told: IdentityFields
        /// Whether the upstream is the Runtime, which is told the session as well.
        let isRuntime: Bool
        /// Whether the upstream is told the client that the token was issued to, as those of resources are.
        let tellsClient: Bool

        package init(
            route: Int, audience: String, told: IdentityFields, isRuntime: Bool, tellsClient: Bool = false
        ) {
            self.tellsClient = tellsClient
            self.route = route
            self.audience = audience
            self.told = told
            self.isRuntime = isRuntime
        }
    }

    /// The fields; none for an open route.
    ///
    /// - Parameter now: in ms since the epoch.
    /// - Throws: where an assertion can't be signed.
    package func identity(of admission: Admission, at place: Place, now: Int64) throws -> FieldLines {
        guard !admission.isOpen else { return FieldLines() }
        let session = place.isRuntime ? admission.permit?.sessionID : nil
        // Read before signing, so that an assertion signed while the keys change is not found again.
        let keys = securityGuard.keyGeneration
        let profile = place.told.isDisjoint(with: .ofAccount) ? nil : admission.profile
        if let principal = admission.principal,
            let kept = identities.fields(
                of: principal, profile: profile?.version, session: session, route: place.route, now: now,
                generation: keys)
        {
            return kept
        }
        guard let user = admission.principal?.subject ?? admission.permit?.userID else {
            return ForwardedIdentity(session: session).written()
        }
        let key = AssertionCache.Key(
            tenant: admission.principal?.tenantID ?? admission.permit?.tenantID, user: user,
            client: admission.principal?.clientID,
            scope: admission.principal.map { $0.scope.joined(separator: " ") }, profile: profile?.version,
            session: session, route: place.route)
        if let kept = assertions.fields(for: key, now: now, generation: keys) {
            // Kept by principal only from the second request on: a caller that comes once would waste a place.
            if let principal = admission.principal {
                identities.keep(
                    kept.fields, of: principal, profile: profile?.version, session: session, route: place.route,
                    until: kept.until, generation: keys)
            }
            return kept.fields
        }
        let fields = try self.fields(key, profile, client: key.client, at: place)
        assertions.keep(fields, for: key, now: now, generation: keys)
        return fields
    }

    /// The fields that the upstream is told, written out and signed.
    private func fields(
        _ caller: AssertionCache.Key, _ profile: CallerProfile?, client: String?, at place: Place
    ) throws -> FieldLines {
        var identity = ForwardedIdentity(session: caller.session)
        if place.told.contains(.user) { identity.user = caller.user }
        if place.told.contains(.tenant) { identity.tenant = caller.tenant }
        if place.told.contains(.scope) { identity.scope = caller.scope }
        if place.told.contains(.email) { identity.email = profile?.email }
        if place.told.contains(.name) { identity.name = profile?.name }
        if place.told.contains(.groups) { identity.groups = profile?.groups ?? [] }
        if place.tellsClient { identity.client = client }
        guard place.told.contains(.assertion) else { return identity.written() }
        identity.assertion = try securityGuard.signAssertion(
            AssertedIdentity(
                subject: identity.user, tenantID: identity.tenant, clientID: client, scope: identity.scope,
                email: identity.email, name: identity.name, groups: identity.groups, sessionID: identity.session),
            audience: place.audience)
        return identity.written()
    }
}
