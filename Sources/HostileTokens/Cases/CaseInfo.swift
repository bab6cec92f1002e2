/// What a case says about itself before it is made.
public struct CaseInfo: Sendable, Equatable {
    /// A name that does not change; it begins with its row, such as `J01`.
    public let id: String
    /// What is tried, in one line.
    public let title: String
    /// The standard or the incident behind it.
    public let reference: String
    /// What a good target does, in words.
    public let expected: String
    /// The group within the family, such as `signature`.
    public let group: String
    /// What it takes to make it.
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

    /// The letter of the row: J tokens, S sessions, R refresh tokens, W WebSockets, P the proxy.
    public var family: String { String(id.prefix(1)) }
}

/// What a case takes: a power of the attacker, or something that the target's profile must speak of.
public enum Need: String, Sendable, CaseIterable {
    /// A good token.
    case token
    /// A good token that is a JWT.
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
    /// Sessions as Gatehouse's HTTP API has them.
    case sessions
    /// Refresh tokens that are rotated.
    case refresh
    /// Tokens that end before their time.
    case revoke
    /// Sessions and sockets that belong to a user.
    case ownership
    /// Headers that tell an upstream who calls.
    case assertion

    /// Why a case without it is left out.
    var absence: String {
        switch self {
        case .token: "needs a good token"
        case .jwt: "the good token is no JWT"
        case .key: "needs a key that the target trusts: --key"
        case .twoUsers: "needs a second user: 'second_user' of the profile"
        case .login: "needs a login: 'token.login' of the profile"
        case .socket: "needs a WebSocket path: 'socket' of the profile"
        case .canary: "needs a route to the suite's own upstream: 'canary' of the profile"
        case .sessions, .refresh, .revoke, .ownership, .assertion:
            "the profile does not promise \(rawValue)"
        }
    }
}

/// One case: a hostile token, or a conversation.
public enum HostileCase: Sendable {
    /// One token in one request.
    case token(Attack)
    /// A conversation of any number of requests.
    case probe(Probe)

    /// What it says about itself.
    public var info: CaseInfo {
        switch self {
        case .token(let attack): attack.info
        case .probe(let probe): probe.info
        }
    }

    /// Why it is made, for people.
    public var explanation: String {
        switch self {
        case .token(let attack): attack.explanation
        case .probe(let probe): probe.explanation
        }
    }
}

extension Attack {
    /// What it says about itself.
    public var info: CaseInfo {
        let needs: [Need] =
            mode == .signed ? [.token, .jwt, .key] : [.token, .jwt]
        return CaseInfo(
            id: id, title: title, reference: reference, expected: expectation.text, group: category.rawValue,
            needs: needs)
    }

    /// Why it is made, for people.
    public var explanation: String {
        let power =
            mode == .signed
            ? "It is signed with a key that the target trusts, so that only the check in question can refuse it."
            : "It is made from a good token and the published keys alone."
        let policy = isPolicy ? " It is a matter of policy, judged with --strict only." : ""
        return "One request carries this in the place of the token. \(power)\(policy)"
    }
}
