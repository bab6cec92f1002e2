/// An identity provider: all that the configuration can say about one entry of `identity_providers`.
package struct ProviderConfiguration: Sendable {
    /// What the provider speaks.
    package enum Kind: String, Sendable, CaseIterable {
        /// OpenID Connect with discovery.
        case oidc
        /// OAuth 2.0 alone (`kind: oauth2`): endpoints by configuration, and the person from an API.
        case oauth2
    }

    /// The name in paths: 1…32 of `a-z`, `0-9`, `-`.
    package var name: String
    /// What people read; the name where nothing is given.
    package var displayName: String
    /// What the provider speaks.
    package var kind: Kind
    /// The issuer, byte for byte: the source of discovery, and for `oauth2` any name of the place that subjects are of.
    package var issuer: String
    /// The id under which the gateway is registered there.
    package var clientID: String
    /// How the gateway proves at the token endpoint that it is this client.
    package var clientAuthentication: ClientAuthentication
    /// Asked for at the authorization endpoint.
    package var scopes: [String]
    /// How the tenant of a person is found.
    package var tenancy: Tenancy
    /// Which claims describe a person.
    package var claims: ClaimNames
    /// Who may sign in; without a rule, every person whom the provider identifies.
    package var allowed: AllowedPersons
    /// Whether an account that has the same verified e-mail is the same person. Without it, issuer and subject are the
    /// only identity.
    package var linkVerifiedEmail: Bool
    /// Whether all e-mails count as verified, whatever the provider says.
    package var trustEmail: Bool
    /// Whether the userinfo endpoint is asked in addition to the ID token. For `oauth2` it always is.
    package var asksUserInfo: Bool
    /// Whether JWTs of this issuer sign in without a redirect (`accept_tokens`, `subject_token`).
    package var acceptsTokens: Bool
    /// Whether the provider may be on a private network.
    package var allowsPrivate: Bool
    /// For `oauth2`: where the person is sent, where the code is exchanged, where the person is described.
    package var authorizationEndpoint: String?
    package var tokenEndpoint: String?
    package var userInfoEndpoint: String?
    /// For `oauth2`: a list of e-mail addresses with `primary` and `verified`, as GitHub has it.
    package var emailsEndpoint: String?
    /// The claim that names the person for `oauth2`: a string or an integer. `sub` for `oidc`, always.
    package var subjectClaim: String

    /// An OpenID Connect provider with everything else as the configuration has it when nothing is said.
    package init(name: String, issuer: String, clientID: String, clientAuthentication: ClientAuthentication) {
        self.name = name
        self.issuer = issuer
        self.clientID = clientID
        self.clientAuthentication = clientAuthentication
        displayName = name
        kind = .oidc
        scopes = ["openid", "email", "profile"]
        tenancy = .fixed(Tenancy.defaultTenant)
        claims = ClaimNames()
        allowed = AllowedPersons()
        linkVerifiedEmail = false
        trustEmail = false
        asksUserInfo = false
        acceptsTokens = false
        allowsPrivate = false
        subjectClaim = "sub"
    }

    /// Which addresses may be connected to for this provider: one on loopback is a provider under development, and
    /// needs no permission of its own for loopback.
    var addresses: AddressGuard {
        let isLoopback =
            EndpointURL(issuer)?.isLoopback == true || tokenEndpoint.flatMap(EndpointURL.init)?.isLoopback == true
        return AddressGuard(allowsPrivate: allowsPrivate, allowsLoopback: isLoopback)
    }
}

/// How the tenant of a person is found.
package enum Tenancy: Sendable, Equatable {
    /// Where neither `tenant` nor `tenant_claim` is given.
    package static let defaultTenant = "default"

    /// All users of this provider belong to one tenant.
    case fixed(String)
    /// A claim says it, and only these values are believed (`tenant_claim`, `tenants`).
    case claim(String, values: [String])
}

/// The names of the claims that describe a person. Dots descend into objects.
package struct ClaimNames: Sendable, Equatable {
    /// The claim with the e-mail address.
    package var email: String
    package var name: String
    /// The claim with the groups.
    package var groups: String
    /// The claim whose scopes are granted; nil grants none.
    package var scope: String?

    package init(email: String = "email", name: String = "name", groups: String = "groups", scope: String? = nil) {
        self.email = email
        self.name = name
        self.groups = groups
        self.scope = scope
    }
}

/// Who may sign in (`allowed`): every rule that is given must be kept, and of each list one entry.
package struct AllowedPersons: Sendable, Equatable {
    /// Domains of e-mail addresses, compared without case and exactly; only verified addresses count.
    package var emailDomains: [String]
    /// Groups, compared byte for byte.
    package var groups: [String]
    /// Claims and the values that are accepted, as text.
    package var claims: [(name: String, values: [String])]

    package init(
        emailDomains: [String] = [], groups: [String] = [], claims: [(name: String, values: [String])] = []
    ) {
        self.emailDomains = emailDomains
        self.groups = groups
        self.claims = claims
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.emailDomains == right.emailDomains && left.groups == right.groups
            && left.claims.elementsEqual(right.claims) { $0.name == $1.name && $0.values == $1.values }
    }
}
