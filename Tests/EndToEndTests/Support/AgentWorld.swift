/// A gateway with a resource, the upstream behind it, a client that has registered itself, and a person.
struct AgentWorld {
    let upstream: RecordingUpstream
    let gateway: GatewayInProcess
    let agent: Agent
    let ada: LoggedIn

    /// - Parameters:
    ///   - more: further lines of the configuration, which go on with its routes.
    ///   - resource: further keys of the resource.
    ///   - users: the accounts, the first of which is `ada`.
    init(
        _ upstream: RecordingUpstream? = nil, more: String = "", resource: String = "",
        users: [TestUser] = TestUser.standard
    ) async throws {
        self.upstream = try upstream ?? RecordingUpstream()
        gateway = try await GatewayInProcess.start(
            Agent.configuration(self.upstream.url, more: more, resource: resource), users: users)
        agent = try Agent(gateway)
        ada = try gateway.login(users.first ?? .ada)
    }

    func stop() {
        gateway.stop()
        upstream.stop()
    }
}
