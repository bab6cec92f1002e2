import Encodings

/// How the gateway proves to the token endpoint that it is the client (OpenID Connect Core 1.0 §9).
package enum ClientAuthentication: Sendable {
    /// HTTP Basic, identifier and secret form-encoded first (RFC 6749 §2.3.1).
    case secretBasic(ClientSecret)
    /// Identifier and secret in the body.
    case secretPost(ClientSecret)
    /// A JWT signed with the gateway's own active key (RFC 7523 §2.2).
    case privateKeyJWT
    /// No proof but PKCE: a public client.
    case none

    /// The name in configuration and metadata.
    package enum Method: String, Sendable, CaseIterable {
        case secretBasic = "client_secret_basic"
        case secretPost = "client_secret_post"
        case privateKeyJWT = "private_key_jwt"
        case none
    }

    /// The method, without the secret.
    package var method: Method {
        switch self {
        case .secretBasic: .secretBasic
        case .secretPost: .secretPost
        case .privateKeyJWT: .privateKeyJWT
        case .none: .none
        }
    }

    /// Puts a method and a secret together; nil if one is given that the other has no use for, or is missing.
    package init?(_ method: Method, secret: ClientSecret?) {
        switch (method, secret) {
        case (.secretBasic, let secret?): self = .secretBasic(secret)
        case (.secretPost, let secret?): self = .secretPost(secret)
        case (.privateKeyJWT, nil): self = .privateKeyJWT
        case (.none, nil): self = .none
        default: return nil
        }
    }
}
