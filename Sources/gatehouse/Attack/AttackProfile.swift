import HostileTokens

/// The description of a target: how tokens are sent, which paths require them, and which features it has.
struct AttackProfile: Sendable, Equatable {
    /// Where the valid token comes from.
    enum TokenSource: Sendable, Equatable {
        case command(String)
        case file(String)
        case login(LoginSettings)
    }

    /// The login of a user: where it is sent, and what is sent.
    struct LoginSettings: Sendable, Equatable {
        var path = ""
        var email = ""
        var password = ""
        var tenant: String?

        var login: Login { Login(path: path, email: email, password: password, tenant: tenant) }
    }

    /// The target's WebSocket: its path, where the token may stand in its handshake, and how a session is named.
    struct Socket: Sendable, Equatable {
        var path = ""
        var carriers: [Transport] = [.socketQuery, .socketHeaders, .socketProtocol]
        /// The cookie with the token; nil for the one of `token`.
        var cookie: String?
        var session = Target.SocketSession.asToken
    }

    /// The route whose upstream is the runner itself, and where the runner listens for it.
    struct Canary: Sendable, Equatable {
        var route = ""
        var host = "127.0.0.1"
        var port = 9_390
    }

    var carrier = Transport.authorization
    var carrierName: String?
    var carrierPrefix: String?
    var source: TokenSource?
    var secondUser: LoginSettings?
    var path: String?
    var successStatuses: Set<Int> = []
    var socket: Socket?
    var promises: Set<Need> = []
    var canary: Canary?
    var oauth: OAuthSettings?

    /// The profile of a Gatehouse, which is used if none is given.
    static let usual: AttackProfile = {
        var profile = AttackProfile()
        profile.socket = Socket(path: "/api/runtime/agent")
        return profile
    }()

    /// All users of the profile.
    var users: [Login] {
        var users: [Login] = []
        if case .login(let settings) = source { users.append(settings.login) }
        if let secondUser, !users.isEmpty { users.append(secondUser.login) }
        return users
    }
}
