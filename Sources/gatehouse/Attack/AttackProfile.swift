import HostileTokens

/// The description of a target: how tokens are sent, which paths require them, and which features it has.
struct AttackProfile: Sendable, Equatable {
    /// Where the valid token comes from.
    enum TokenSource: Sendable, Equatable {
        /// `token.command`: a line for `/bin/sh`, which prints the token and exits.
        case command(String)
        /// `token.file`: the path of a file with the token. White space in it does not count.
        case file(String)
        /// `token.login`: a login, whose answer has the token.
        case login(LoginSettings)
    }

    /// The login of a user: where it is sent, and what is sent.
    struct LoginSettings: Sendable, Equatable {
        /// `login.path`: where the login is sent with POST. The reader refuses a profile in which path, e-mail or
        /// password is missing.
        var path = ""
        var email = ""
        var password = ""
        /// `login.tenant_id`; nil sends none.
        var tenant: String?

        /// The same as the suite takes it.
        var login: Login { Login(path: path, email: email, password: password, tenant: tenant) }
    }

    /// The target's WebSocket: its path, where the token may stand in its handshake, and how a session is named.
    struct Socket: Sendable, Equatable {
        /// `socket.path`: where the upgrade is sent.
        var path = ""
        /// `socket.carriers`: the places in the handshake in which the target takes a token. Each is tried.
        var carriers: [Transport] = [.socketQuery, .socketHeaders, .socketProtocol]
        /// The cookie with the token; nil for the one of `token`.
        var cookie: String?
        /// `socket.session`: where the id of the session stands in the handshake; where the token stands, unless it is
        /// said.
        var session = Target.SocketSession.asToken
    }

    /// The route whose upstream is the runner itself, and where the runner listens for it.
    struct Canary: Sendable, Equatable {
        /// `canary.upstream_route`: the path that the target forwards to the runner.
        var route = ""
        /// `canary.listen`: the IPv4 address and the port that the runner listens on, which the target's route has as
        /// its upstream.
        var host = "127.0.0.1"
        var port = 9_390
    }

    /// `token.carrier`: where a token stands in a request. `--transport` says otherwise for a run.
    var carrier = Transport.authorization
    /// `token.name`: the field, parameter, cookie or subprotocol with the token; nil for the usual one of its
    /// transport. Never nil for a cookie.
    var carrierName: String?
    /// `token.prefix`: what stands before the token; nil for the usual text of its transport, such as `Bearer `.
    var carrierPrefix: String?
    /// Where the valid token comes from if command line and environment have none. One that has ended in the middle of
    /// a run is got from there anew. Nil if the profile names no source.
    var source: TokenSource?
    /// `second_user.login`: the user whose sessions and tokens the first must not reach. Needs a login of the first;
    /// nil leaves out the cases about two users.
    var secondUser: LoginSettings?
    /// `path`: a path that requires a token, if neither the target's URL nor `--path` says one.
    var path: String?
    /// `success.status`: the statuses with which a request was let in; empty means 200 to 299.
    var successStatuses: Set<Int> = []
    /// Nil for a target without a WebSocket, whose cases are then skipped.
    var socket: Socket?
    /// `promises`: what the target does beyond checking tokens. Cases that need something else are skipped.
    var promises: Set<Need> = []
    /// Nil where the runner is no upstream: cases that need to see what is forwarded are skipped.
    var canary: Canary?
    /// `oauth`: the target's authorization server for agents; nil where it has none to be tried.
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
