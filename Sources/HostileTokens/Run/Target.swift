/// The target of the attacks, and what is known about it.
public struct Target: Sendable {
    /// The `Host` of the requests.
    public var authority: String
    /// Whether it is reached over TLS.
    public var isSecure = false
    /// A path that requires a token, and answers a valid one with success.
    public var path: String
    /// The statuses that count as accepted; if empty, 200 to 299.
    public var successStatuses: Set<Int> = []
    /// The name of the field, query parameter or cookie with the token; nil for the default of the transport.
    public var carrierName: String?
    /// The text before the token in its carrier; nil for the default of the transport.
    public var carrierPrefix: String?
    /// The transport that these two belong to. Of WebSocket upgrades, those of the same kind use them as well.
    public var carrier = Transport.authorization
    /// The path of WebSocket upgrades; nil if there is none.
    public var socketPath: String?
    /// The carriers that WebSocket upgrades accept.
    public var socketCarriers: [Transport] = [.socketQuery, .socketHeaders, .socketProtocol]
    /// The cookie with the token in WebSocket upgrades; nil for the one of other requests.
    public var socketCookie: String?
    /// How a WebSocket upgrade names its session.
    public var socketSession = SocketSession.asToken
    /// The session that WebSocket upgrades name.
    public var sessionID: String?
    /// The path of token introspection.
    public var introspectionPath: String
    /// The value of `Authorization` of the introspection client. Secret.
    public var clientAuthorization: String?
    /// The path that is routed to the suite's own upstream.
    public var canaryPath: String?
    /// The protected resource of an authorization server; nil if there is none.
    public var oauth: OAuthSettings?
    /// The features that the target has beyond checking tokens.
    public var promises: Set<Need> = []
    /// The users. The valid token belongs to the first of them.
    public var users: [Login] = []
    /// Whether a refusal must have the status that the standards demand. If not, any answer but success is a refusal.
    public var isStrict = false

    /// How a WebSocket upgrade names its session.
    public enum SocketSession: String, Sendable, CaseIterable {
        /// In the carrier of the token: in the query, in `Session-Id`, or in the subprotocols.
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

    /// The name and the prefix of the token in WebSocket upgrades with this transport; nil for its defaults.
    func socketTerms(_ transport: Transport) -> (name: String?, prefix: String?) {
        if transport == .socketCookie, let socketCookie { return (socketCookie, nil) }
        return carrier.shortName == transport.shortName ? (carrierName, carrierPrefix) : (nil, nil)
    }

    /// Whether a status counts as accepted.
    public func isSuccess(_ status: Int) -> Bool {
        successStatuses.isEmpty ? (200..<300).contains(status) : successStatuses.contains(status)
    }
}

extension Login: CustomStringConvertible, CustomReflectable {
    /// The e-mail.
    public var description: String { "Login(\(email))" }
    /// The e-mail only, so that `dump` does not show the password.
    public var customMirror: Mirror { Mirror(self, children: ["email": email]) }
}
