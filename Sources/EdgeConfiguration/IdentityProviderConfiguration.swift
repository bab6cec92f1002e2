/// One entry of `identity_providers`: a provider through which people sign in, by OpenID Connect or OAuth 2.0.
///
/// What is nil has the default of the preset, or else that of the documentation.
public struct IdentityProviderConfiguration: Sendable, Equatable {
    /// What the provider speaks.
    public enum Kind: String, Sendable, CaseIterable {
        /// OpenID Connect with discovery.
        case oidc
        /// OAuth 2.0 without OpenID Connect.
        case oauth2
    }

    /// Providers whose endpoints are known.
    public enum Preset: String, Sendable, CaseIterable {
        /// OAuth apps of GitHub.
        case github
    }

    /// How the gateway proves to the token endpoint that it is the client.
    public enum ClientAuthentication: String, Sendable, CaseIterable {
        /// HTTP Basic.
        case secretBasic = "client_secret_basic"
        /// In the body.
        case secretPost = "client_secret_post"
        /// A JWT signed with the gateway's active key.
        case privateKeyJWT = "private_key_jwt"
        /// A public client: PKCE alone.
        case none
    }

    /// A client secret. It has no description.
    public struct Secret: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
        package let text: String

        /// A secret as the provider gave it.
        public init(_ text: String) { self.text = text }

        /// Never the secret.
        public var description: String { "Secret" }
        /// Nothing.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// The names of the claims that describe a person. Dots descend into objects, unless a claim has the whole name.
    public struct Claims: Sendable, Equatable {
        /// `claims.email`.
        public var email = "email"
        /// `claims.name`.
        public var name = "name"
        /// `claims.groups`.
        public var groups = "groups"
        /// `claims.scope`: the claim whose scopes are granted; nil grants none.
        public var scope: String?

        /// The defaults.
        public init() {}
    }

    /// Who may sign in: all rules that are given must be kept, and of each list one entry.
    public struct Allowed: Sendable, Equatable {
        /// `allowed.email_domains`, compared exactly and without case. Only verified addresses count.
        public var emailDomains: [String] = []
        /// `allowed.groups`.
        public var groups: [String] = []
        /// `allowed.claims`.
        public var claims: [ClaimRule] = []

        /// Everyone whom the provider knows.
        public init() {}
    }

    /// A claim, and the values of which it must have one.
    public struct ClaimRule: Sendable, Equatable {
        /// The name of the claim.
        public var name: String
        /// The accepted values, as text.
        public var values: [String]

        /// A rule for a claim.
        public init(name: String, values: [String]) {
            self.name = name
            self.values = values
        }
    }

    /// `name`: the name in paths, 1 to 32 of `a-z`, `0-9`, `-`.
    public var name: String
    /// `preset`: a provider whose endpoints are known.
    public var preset: Preset?
    /// `display_name`: what people read; nil for ``name``.
    public var displayName: String?
    /// `kind`: what it speaks; nil for OpenID Connect.
    public var kind: Kind?
    /// `issuer`: the issuer, byte for byte, for discovery; with `kind: oauth2` a name. Nil only with a preset.
    public var issuer: String?
    /// `client_id`.
    public var clientID: String
    /// `client_secret`.
    public var clientSecret: Secret?
    /// `client_secret_file`: a file with the secret; one final newline is dropped.
    public var clientSecretFile: String?
    /// `client_authentication`; nil for `client_secret_basic`.
    public var clientAuthentication: ClientAuthentication?
    /// `scopes`: asked for at the provider; nil for `openid email profile`.
    public var scopes: [String]?
    /// `tenant`: the tenant of everyone who signs in here; nil for `default`, or where ``tenantClaim`` says it.
    public var tenant: String?
    /// `tenant_claim`: the claim that names the tenant.
    public var tenantClaim: String?
    /// `tenants`: the values of that claim that are believed.
    public var tenants: [String] = []
    /// `claims`: the names of claims.
    public var claims = Claims()
    /// `allowed`: who may sign in.
    public var allowed = Allowed()
    /// `link_verified_email`: whether an account with the same verified e-mail is the same person.
    public var linkVerifiedEmail = false
    /// `trust_email`: whether all of its e-mails count as verified, whatever it says.
    public var trustEmail = false
    /// `userinfo`: whether the userinfo endpoint is asked besides the ID token.
    public var userInfo = false
    /// `accept_tokens`: whether its ID tokens sign in without a redirect (`subject_token`).
    public var acceptTokens = false
    /// `allow_private`: whether it may be on a private network.
    public var allowPrivate = false
    /// `authorization_endpoint`, with `kind: oauth2`.
    public var authorizationEndpoint: String?
    /// `token_endpoint`, with `kind: oauth2`.
    public var tokenEndpoint: String?
    /// `userinfo_endpoint`, with `kind: oauth2`.
    public var userInfoEndpoint: String?
    /// `emails_endpoint`, with `kind: oauth2`: a list of addresses with `primary` and `verified`, as GitHub has it.
    public var emailsEndpoint: String?
    /// `subject_claim`, with `kind: oauth2`: the claim that names the person; nil for `sub`.
    public var subjectClaim: String?

    /// An OpenID Connect provider.
    public init(name: String, issuer: String, clientID: String) {
        self.name = name
        self.issuer = issuer
        self.clientID = clientID
    }

    /// A provider whose endpoints are known.
    public init(name: String, preset: Preset, clientID: String) {
        self.name = name
        self.preset = preset
        self.clientID = clientID
    }
}
