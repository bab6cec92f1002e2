/// What a route asks of its callers.
///
/// Everything that decides whether an identified caller may pass belongs in here.
package struct AccessTerms: Sendable, Equatable {
    /// Which credentials a request must carry.
    package let requirement: RouteConfiguration.Requirement
    /// The scopes that the access token must have, all of them.
    package let scopes: [String]
    /// The lists of `allow`; nil where none is given.
    package let allow: AllowRules?
    /// How long ago the caller may have signed in, in milliseconds; nil for any time.
    package let freshness: Int64?
    /// The authentication context classes of which the sign-in must have one; empty for any.
    package let contextClasses: [String]
    /// The resource that the access token must be for; nil for the gateway's own audience.
    package let resource: String?
    /// Whether the account of the caller is needed: to judge, or to tell the upstream.
    package let readsAccount: Bool

    /// Creates the terms of a route.
    ///
    /// - Parameter identity: what the upstream is told of the caller.
    package init(
        requirement: RouteConfiguration.Requirement, scopes: [String] = [],
        allow: RouteConfiguration.Allow = .init(), freshness: Int64? = nil, contextClasses: [String] = [],
        identity: IdentityFields = .all, resource: String? = nil
    ) {
        self.requirement = requirement
        self.scopes = scopes
        self.allow = AllowRules(allow)
        self.freshness = freshness
        self.contextClasses = contextClasses
        self.resource = resource
        readsAccount = self.allow?.readsAccount == true || !identity.isDisjoint(with: .ofAccount)
    }
}

extension RouteConfiguration {
    /// What the route asks of its callers.
    /// - Parameter issuer: the issuer, with which the identifier of a resource begins.
    package func access(issuer: String) -> AccessTerms {
        AccessTerms(
            requirement: require, scopes: scopes, allow: allow, freshness: fresh, contextClasses: acr,
            identity: IdentityFields(identity), resource: resourceIdentifier(issuer: issuer))
    }
}
