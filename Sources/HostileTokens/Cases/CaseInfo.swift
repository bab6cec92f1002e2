/// The description of a case.
public struct CaseInfo: Sendable, Equatable {
    /// The id, which begins with its row, such as `J01`. Ids are stable across versions.
    public let id: String
    /// What is tried, in one line.
    public let title: String
    /// The standard or the incident it is taken from.
    public let reference: String
    /// What a correct target does, in words.
    public let expected: String
    /// The group within the family, such as `signature`.
    public let group: String
    /// What is needed to run it.
    public let needs: [Need]

    /// A description.
    public init(id: String, title: String, reference: String, expected: String, group: String, needs: [Need]) {
        self.id = id
        self.title = title
        self.reference = reference
        self.expected = expected
        self.group = group
        self.needs = needs
    }

    /// The first letter of the id: J for tokens, S for sessions, R for refresh tokens, O for OAuth, W for WebSockets, P
    /// for the proxy, H for HTTP between proxy and upstream.
    public var family: String { String(id.prefix(1)) }
}

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

/// One case: a hostile token, or a conversation of several requests.
public enum HostileCase: Sendable {
    /// One token in one request.
    case token(Attack)
    /// A conversation of any number of requests.
    case probe(Probe)

    /// The description.
    public var info: CaseInfo {
        switch self {
        case .token(let attack): attack.info
        case .probe(let probe): probe.info
        }
    }

    /// The purpose of the case, for people.
    public var explanation: String {
        switch self {
        case .token(let attack): attack.explanation
        case .probe(let probe): probe.explanation
        }
    }
}

extension Attack {
    /// The description.
    public var info: CaseInfo {
        let needs: [Need] =
            mode == .signed ? [.token, .jwt, .key] : [.token, .jwt]
        return CaseInfo(
            id: id, title: title, reference: reference, expected: expectation.text, group: category.rawValue,
            needs: needs)
    }

    /// The purpose of the case, for people.
    public var explanation: String {
        let power =
            mode == .signed
            ? "It is signed with a key that the target trusts, so that only the check in question can refuse it."
            : "It is made from a good token and the published keys alone."
        let policy = isPolicy ? " It is a matter of policy, judged with --strict only." : ""
        return "One request carries this in the place of the token. \(power)\(policy)"
    }
}
