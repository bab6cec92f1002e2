/// What a route asks of its callers.
///
/// Everything that decides whether a caller who is known may pass belongs in here.
package struct AccessTerms: Sendable, Equatable {
    /// Which credentials a request must carry.
    package let requirement: RouteConfiguration.Requirement
    /// Every one of these must be in the access token's scope.
    package let scopes: [String]

    package init(requirement: RouteConfiguration.Requirement, scopes: [String] = []) {
        self.requirement = requirement
        self.scopes = scopes
    }
}

extension RouteConfiguration {
    /// What the route asks of its callers.
    package var access: AccessTerms { AccessTerms(requirement: require, scopes: scopes) }
}
