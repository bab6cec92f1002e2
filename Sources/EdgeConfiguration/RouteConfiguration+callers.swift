extension RouteConfiguration {
    /// A fact about the caller that the upstream is told.
    public enum Identity: String, Sendable, CaseIterable {
        /// `X-Gatehouse-User`.
        case user
        /// `X-Gatehouse-Tenant`.
        case tenant
        /// `X-Gatehouse-Scope`.
        case scope
        /// `X-Gatehouse-Email`: the account's e-mail, if it is verified.
        case email
        /// `X-Gatehouse-Name`.
        case name
        /// `X-Gatehouse-Groups`.
        case groups
        /// `X-Gatehouse-Assertion`: a signed statement of the others that are chosen.
        case assertion
    }

    /// Who may use a route. Of each list that is given, one entry has to match; a list that is nil matches every
    /// caller.
    public struct Allow: Sendable, Equatable {
        /// Scopes of the token.
        public var scopesAny: [String]?
        /// Groups of the account, compared byte by byte.
        public var groups: [String]?
        /// User ids, `usr_…`.
        public var users: [String]?
        /// Domains of the account's verified e-mail, compared without case; subdomains are other domains.
        public var emailDomains: [String]?
        /// Client ids of the token; `gatehouse` for those of logins.
        public var clients: [String]?
        /// Tenants of the caller.
        public var tenants: [String]?

        /// Every caller that meets the route's other terms.
        public init() {}

        /// Whether a list is given that only a token can meet.
        package var readsToken: Bool { scopesAny != nil || clients != nil }
    }

    /// Whether the route's terms need a token and not only a session.
    package var readsToken: Bool { !scopes.isEmpty || allow.readsToken }

    /// Whether the route's terms ask when or how the caller signed in.
    package var readsSignIn: Bool { fresh != nil || !acr.isEmpty }

    /// Whether the route has terms that no caller could meet with the credentials that it requires.
    var hasUnmeetableTerms: Bool {
        switch require {
        case .none: readsToken || readsSignIn || allow != Allow()
        case .session: readsToken
        case .token, .tokenAndSession: false
        }
    }
}
