/// What a case needs: something that the attacker has, or a feature that the target's profile describes.
public enum Need: String, Sendable, CaseIterable {
    /// A valid token.
    case token
    /// A valid token that is a JWT.
    case jwt
    /// A signing key that the target trusts.
    case key
    /// Two users who can sign in.
    case twoUsers = "two-users"
    /// A user who can sign in.
    case login
    /// A WebSocket path.
    case socket
    /// A route with the suite's own recording upstream behind it.
    case canary
    /// The session API of Gatehouse.
    case sessions
    /// Refresh tokens with rotation.
    case refresh
    /// Revocation of tokens before they expire.
    case revoke
    /// Sessions and sockets that are bound to a user.
    case ownership
    /// Headers that tell an upstream who the caller is.
    case assertion
    /// Protocol sessions (`Mcp-Session-Id`) that are bound to their owner.
    case protocolSessions = "protocol-sessions"
    /// An authorization server with a protected resource.
    case oauth

    /// Why a case is skipped if it is missing.
    var absence: String {
        switch self {
        case .token: "needs a good token"
        case .jwt: "the good token is no JWT"
        case .key: "needs a key that the target trusts: --key"
        case .twoUsers: "needs a second user: 'second_user' of the profile"
        case .login: "needs a login: 'token.login' of the profile"
        case .socket: "needs a WebSocket path: 'socket' of the profile"
        case .canary: "needs a route to the suite's own upstream: 'canary' of the profile"
        case .oauth: "needs an authorization server: 'oauth' of the profile"
        case .sessions, .refresh, .revoke, .ownership, .assertion, .protocolSessions:
            "the profile does not promise \(rawValue)"
        }
    }
}
