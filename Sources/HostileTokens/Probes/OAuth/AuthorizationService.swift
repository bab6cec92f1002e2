/// What the target's metadata say about its authorization server, and the clients that the suite has there.
struct AuthorizationService: Sendable {
    /// The identifier of the server (RFC 8414 section 2).
    let issuer: String
    /// The path and query of the authorization endpoint; it is asked at the target's own authority, whatever host the
    /// metadata name.
    let authorizePath: String
    /// The path of the token endpoint.
    let tokenPath: String
    /// Nil if clients can't register themselves (RFC 7591).
    let registerPath: String?
    /// The identifier of the protected resource (RFC 8707), and its path.
    let resource: String
    let resourcePath: String
    /// The scopes of the profile: the first is asked for, and a refresh must not add the second.
    let scopes: [String]
    /// The client of all requests: the profile's, or one that the suite has registered.
    let client: String
    /// A second client; nil if clients can't register themselves.
    let other: String?
    /// A redirect URI of ``client`` and ``other``.
    let redirect: String
    /// A redirect URI for which the person is always asked; nil if there is none.
    let asking: String?
    /// Whether clients may be named by the URL of a metadata document.
    let fetchesDocuments: Bool
    /// Whether redirects name the issuer (RFC 9207).
    let announcesIssuer: Bool
}
