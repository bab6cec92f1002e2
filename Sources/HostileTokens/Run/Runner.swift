/// Runs cases one after the other, each between two control requests that must be accepted.
///
/// A run begins with a request without a token, which must be refused, and one with the valid token, which must be
/// accepted. A case that passed is inconclusive if the control behind it is refused: the target may have been down.
public struct Runner: Sendable {
    /// Sends one request on a new connection and returns the answer.
    public typealias Send = @Sendable (RawRequest) async throws -> RawResponse

    let target: Target
    let transport: Transport
    let token: [UInt8]?
    let material: AttackMaterial?
    let environment: Environment
    let wire: Wire

    /// A runner.
    ///
    /// - Parameters:
    ///   - target: where the attacks go.
    ///   - transport: how the tokens are sent.
    ///   - token: a valid token, or nil.
    ///   - material: what hostile tokens are made from; nil if the valid token is not a JWT.
    ///   - environment: clock, rate limit and canary.
    ///   - wire: how requests are sent.
    public init(
        target: Target, transport: Transport, token: [UInt8]?, material: AttackMaterial?, environment: Environment,
        wire: Wire
    ) {
        self.target = target
        self.transport = transport
        self.token = token
        self.material = material
        self.environment = environment
        self.wire = wire
    }

    /// A runner for attacks with tokens only.
    public init(
        target: Target, transport: Transport = .authorization, material: AttackMaterial, environment: Environment,
        send: @escaping Send
    ) {
        self.init(
            target: target, transport: transport, token: material.goodToken, material: material,
            environment: environment, wire: Wire(send: send))
    }

    /// Runs the attacks.
    ///
    /// - Throws: ``RunError`` if the target cannot be judged: it refuses the valid token, or accepts requests without
    ///   one.
    public func run(_ attacks: [Attack], progress: @Sendable (CaseResult) -> Void = { _ in }) async throws -> Report {
        try await run(attacks.map(HostileCase.token), progress: progress)
    }

    /// Runs the cases.
    ///
    /// - Parameters:
    ///   - cases: run in this order. Those that need what is missing are skipped.
    ///   - progress: called with each result, in the same order, before the next case.
    /// - Throws: ``RunError`` if the target cannot be judged: it refuses the valid token, or accepts requests without
    ///   one.
    public func run(_ cases: [HostileCase], progress: @Sendable (CaseResult) -> Void = { _ in }) async throws -> Report
    {
        var state = RunState(self)
        try await state.begin()
        for hostile in cases {
            try Task.checkCancellation()
            let result = try await state.result(of: hostile)
            state.report.results.append(result)
            progress(result)
        }
        return state.report
    }
}
