/// What a route asks of its callers.
///
/// Everything that decides whether an identified caller may pass belongs in here.
package struct AccessTerms: Sendable, Equatable {
    /// Which credentials a request must carry.
    package let requirement: RouteConfiguration.Requirement
    /// The scopes that the access token must have, all of them.
    package let scopes: [String]

    /// Creates the terms of a route.
    package init(requirement: RouteConfiguration.Requirement, scopes: [String] = []) {
        self.requirement = requirement
        self.scopes = scopes
    }
}

extension RouteConfiguration {
    /// What the route asks of its callers.
    package var access: AccessTerms { AccessTerms(requirement: require, scopes: scopes) }
}
