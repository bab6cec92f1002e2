/// Where the attacks go, and what is known of it.
public struct Target: Sendable {
    /// The `Host` of the requests.
    public var authority: String
    /// Whether it is reached over TLS.
    public var isSecure = false
    /// A path that wants a token, answering with success to a good one.
    public var path: String
    /// The statuses that let a caller in; any from 200 to 299 for none.
    public var successStatuses: Set<Int> = []
    /// The name of the field, query parameter or cookie that carries the token; nil for the usual one.
    public var carrierName: String?
    /// What stands before the token in its carrier; nil for the usual text.
    public var carrierPrefix: String?
    /// The path of WebSocket upgrades; nil if there is none.
    public var socketPath: String?
    /// The carriers that WebSocket upgrades take.
    public var socketCarriers: [Transport] = [.socketQuery, .socketHeaders, .socketProtocol]
    /// How a WebSocket upgrade names its session.
    public var socketSession = SocketSession.asToken
    /// The session that WebSocket upgrades ask for.
    public var sessionID: String?
    /// The path of token introspection.
    public var introspectionPath: String
    /// The `Authorization` of the client that asks for introspection. Secret.
    public var clientAuthorization: String?
    /// The path under which the suite's own upstream is reached.
    public var canaryPath: String?
    /// What the target promises beyond the checks of a token.
    public var promises: Set<Need> = []
    /// The users, the first of them the good token's.
    public var users: [Login] = []
    /// Whether a refusal must have the status that the standards name; else any answer but success is one.
    public var isStrict = false

    /// How a WebSocket upgrade names its session.
    public enum SocketSession: String, Sendable, CaseIterable {
        /// As its token travels: in the query, in `Session-Id`, or among the subprotocols.
        case asToken = "carrier"
        /// `session_id` in the query.
        case query
        /// `Session-Id`.
        case header
        /// Not at all.
        case none
    }

    /// A target.
    public init(
        authority: String, path: String = "/api/auth/me", socketPath: String? = "/api/runtime/agent",
        sessionID: String? = nil, introspectionPath: String = "/oauth2/introspect", clientAuthorization: String? = nil
    ) {
        self.authority = authority
        self.path = path
        self.socketPath = socketPath
        self.sessionID = sessionID
        self.introspectionPath = introspectionPath
        self.clientAuthorization = clientAuthorization
    }

    /// The target's own origin.
    var origin: String { (isSecure ? "https://" : "http://") + authority }

    /// Whether a status lets a caller in.
    public func isSuccess(_ status: Int) -> Bool {
        successStatuses.isEmpty ? (200..<300).contains(status) : successStatuses.contains(status)
    }
}

/// A user who can sign in.
public struct Login: Sendable {
    /// Where to sign in.
    public let path: String
    /// The e-mail.
    public let email: String
    /// The password. Secret.
    public let password: String
    /// The tenant, where the target has them.
    public let tenant: String?

    /// A user.
    public init(path: String, email: String, password: String, tenant: String? = nil) {
        self.path = path
        self.email = email
        self.password = password
        self.tenant = tenant
    }
}

extension Login: CustomStringConvertible, CustomReflectable {
    /// The e-mail.
    public var description: String { "Login(\(email))" }
    /// Nothing of the password.
    public var customMirror: Mirror { Mirror(self, children: ["email": email]) }
}
