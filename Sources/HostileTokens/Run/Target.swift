/// Where the attacks go.
public struct Target: Sendable {
    /// The `Host` of the requests.
    public let authority: String
    /// A path that wants a token, answering 200 to a good one.
    public let path: String
    /// The path of WebSocket upgrades.
    public let socketPath: String
    /// The session that WebSocket upgrades ask for.
    public let sessionID: String?
    /// The path of token introspection.
    public let introspectionPath: String
    /// The `Authorization` of the client that asks for introspection. Secret.
    public let clientAuthorization: String?

    /// A target.
    public init(
        authority: String, path: String = "/api/auth/me", socketPath: String = "/api/runtime/agent",
        sessionID: String? = nil, introspectionPath: String = "/oauth2/introspect", clientAuthorization: String? = nil
    ) {
        self.authority = authority
        self.path = path
        self.socketPath = socketPath
        self.sessionID = sessionID
        self.introspectionPath = introspectionPath
        self.clientAuthorization = clientAuthorization
    }
}
