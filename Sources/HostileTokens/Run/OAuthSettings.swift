/// A resource that an authorization server protects. Its metadata (RFC 9728, RFC 8414) say everything else.
public struct OAuthSettings: Sendable, Equatable {
    /// The path of the resource.
    public var resource: String
    /// Scopes of the resource: the first is asked for, and a refresh must not add the second.
    public var scopes: [String]
    /// A public client; nil if the suite registers one (RFC 7591).
    public var clientID: String?
    /// A redirect URI of that client.
    public var redirectURI: String?

    /// A resource.
    public init(resource: String, scopes: [String] = [], clientID: String? = nil, redirectURI: String? = nil) {
        self.resource = resource
        self.scopes = scopes
        self.clientID = clientID
        self.redirectURI = redirectURI
    }
}
