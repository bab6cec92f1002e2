import Encodings

/// A resource that tokens can be asked for: a route with `resource`.
package struct ProtectedResource: Sendable, Equatable {
    /// Its identifier, which is the `aud` of its tokens.
    package let identifier: String
    /// The path of its route.
    package let path: String
    /// Its name for people.
    package let name: String
    /// The scopes that tokens for it can have.
    package let scopes: [String]
    /// Where developers can read about it; nil for nowhere.
    package let documentation: String?
    /// Whether a person may let an agent keep its access after signing out.
    package let offline: Bool
    /// The issuers of its tokens (RFC 9728 `authorization_servers`).
    package let authorizationServers: [String]

    package init(
        identifier: String, path: String, name: String, scopes: [String], documentation: String? = nil,
        offline: Bool = false, authorizationServers: [String]
    ) {
        self.identifier = identifier
        self.path = path
        self.name = name
        self.scopes = scopes
        self.documentation = documentation
        self.offline = offline
        self.authorizationServers = authorizationServers
    }

    /// Whether this issuer's tokens are accepted.
    package func isGranted(by issuer: String) -> Bool {
        authorizationServers.contains { $0.hasSameBytes(as: issuer) }
    }

    /// The path of the metadata document of a resource with this path (RFC 9728 section 3.1).
    package static func metadataPath(of path: String) -> String {
        let prefix = "/.well-known/oauth-protected-resource"
        return path.utf8.elementsEqual("/".utf8) ? prefix : prefix + path
    }
}
