import SecurityGuard

/// `allow` of a route, prepared for judging.
///
/// It is a class, so that an admission can keep it at the cost of one reference count.
package final class AllowRules: Sendable, Equatable {
    private let scopesAny: [String]?
    private let groups: NameSet?
    private let users: NameSet?
    private let emailDomains: NameSet?
    private let clients: NameSet?
    private let tenants: NameSet?

    /// Prepares the lists; nil if none is given.
    package init?(_ allow: RouteConfiguration.Allow) {
        guard allow != RouteConfiguration.Allow() else { return nil }
        scopesAny = allow.scopesAny
        groups = allow.groups.map(NameSet.init)
        users = allow.users.map(NameSet.init)
        emailDomains = allow.emailDomains.map { NameSet($0.map(CallerProfile.lowerCased)) }
        clients = allow.clients.map(NameSet.init)
        tenants = allow.tenants.map(NameSet.init)
    }

    /// Whether the account has to be known to judge.
    package var readsAccount: Bool { groups != nil || emailDomains != nil }

    /// Whether the caller may pass: of each list that is given, one entry has to match.
    ///
    /// - Parameters:
    ///   - principal: the caller's token; nil where a session was opened by its secret.
    ///   - userID: the user or client; nil for an anonymous session, which meets no list.
    ///   - profile: the account; nil for a caller without one.
    package func permit(
        _ principal: Principal?, userID: String?, tenantID: String?, profile: CallerProfile?
    ) -> Bool {
        guard let userID, let tenantID else { return false }
        if let scopesAny, !scopesAny.contains(where: { principal?.has(scope: $0) == true }) { return false }
        if let clients, !(principal.map { clients.contains($0.clientID) } ?? false) { return false }
        if let tenants, !tenants.contains(tenantID) { return false }
        if let users, !users.contains(userID) { return false }
        return permit(profile)
    }

    /// The part of the rules that depends on the account, which may change while a caller is connected.
    package func permit(_ profile: CallerProfile?) -> Bool {
        if let groups, profile?.isMember(ofAny: groups) != true { return false }
        if let emailDomains, profile?.hasDomain(in: emailDomains) != true { return false }
        return true
    }

    /// Equality of the lists.
    package static func == (left: AllowRules, right: AllowRules) -> Bool {
        left.scopesAny == right.scopesAny && left.groups == right.groups && left.users == right.users
            && left.emailDomains == right.emailDomains && left.clients == right.clients
            && left.tenants == right.tenants
    }
}
