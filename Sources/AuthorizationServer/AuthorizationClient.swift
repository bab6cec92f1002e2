/// What the authorization endpoint knows of a client.
package struct AuthorizationClient: Sendable, Equatable {
    /// How the client became known.
    package enum Origin: String, Sendable {
        /// The operator added it.
        case configured = "operator"
        /// It registered itself (RFC 7591).
        case registered = "registration"
        /// Its id is the URL of its metadata (Client ID Metadata Documents).
        case document
    }

    /// The `client_id`.
    package let id: String
    /// Its name for people. It is what the client says of itself, unless the operator added it.
    package let name: String
    /// How it became known.
    package let origin: Origin
    /// Where it may receive codes.
    package let redirectURIs: [RedirectURI]
    /// The scopes that it may have at most; empty for no limit.
    package let scopes: [String]
    /// The tenant whose users may authorise it; nil for all.
    package let tenantID: String?
    /// The host that vouches for its name, for the consent page; nil if none does.
    package let host: String?

    package init(
        id: String, name: String, origin: Origin, redirectURIs: [RedirectURI], scopes: [String] = [],
        tenantID: String? = nil, host: String? = nil
    ) {
        self.id = id
        self.name = name
        self.origin = origin
        self.redirectURIs = redirectURIs
        self.scopes = scopes
        self.tenantID = tenantID
        self.host = host
    }
}
