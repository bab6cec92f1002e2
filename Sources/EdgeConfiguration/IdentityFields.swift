/// The facts about the caller that an upstream is told, as a set that is cheap to look at.
package struct IdentityFields: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The set of the facts in a list.
    package init(_ list: [RouteConfiguration.Identity]) {
        self = list.reduce(into: []) { $0.insert(Self($1)) }
    }

    private init(_ fact: RouteConfiguration.Identity) {
        switch fact {
        case .user: self = .user
        case .tenant: self = .tenant
        case .scope: self = .scope
        case .email: self = .email
        case .name: self = .name
        case .groups: self = .groups
        case .assertion: self = .assertion
        }
    }

    /// `X-Gatehouse-User`.
    package static let user = Self(rawValue: 1)
    /// `X-Gatehouse-Tenant`.
    package static let tenant = Self(rawValue: 2)
    /// `X-Gatehouse-Scope`.
    package static let scope = Self(rawValue: 4)
    /// `X-Gatehouse-Email`.
    package static let email = Self(rawValue: 8)
    /// `X-Gatehouse-Name`.
    package static let name = Self(rawValue: 16)
    /// `X-Gatehouse-Groups`.
    package static let groups = Self(rawValue: 32)
    /// `X-Gatehouse-Assertion`, the signed form of the others.
    package static let assertion = Self(rawValue: 64)
    /// Every fact.
    package static let all = Self(RouteConfiguration.Identity.allCases)
    /// The facts that only the account knows.
    package static let ofAccount: Self = [.email, .name, .groups]
}
