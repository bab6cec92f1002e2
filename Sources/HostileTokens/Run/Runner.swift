/// Makes attacks one after the other, each between two control requests that must be let in.
public struct Runner: Sendable {
    /// Sends one request on a connection of its own and gives back the answer.
    public typealias Send = @Sendable (RawRequest) async throws -> RawResponse

    /// What surrounds the attacks.
    public struct Surroundings: Sendable {
        /// Waits until the next request may be sent.
        public var pause: @Sendable () async throws -> Void
        /// Seconds since 1970.
        public var now: @Sendable () -> Int64
        /// How often the canary's address was visited.
        public var canaryVisits: @Sendable () -> Int

        /// Surroundings without a rate, and without anybody at the canary's address.
        public init(
            now: @escaping @Sendable () -> Int64, pause: @escaping @Sendable () async throws -> Void = {},
            canaryVisits: @escaping @Sendable () -> Int = { 0 }
        ) {
            self.now = now
            self.pause = pause
            self.canaryVisits = canaryVisits
        }
    }

    private let target: Target
    private let transport: Transport
    private let material: AttackMaterial
    private let surroundings: Surroundings
    private let send: Send

    /// A runner.
    ///
    /// - Parameters:
    ///   - target: where the attacks go.
    ///   - transport: how the tokens travel.
    ///   - material: what the attacks are made from.
    ///   - surroundings: clock, rate and canary.
    ///   - send: sends one request.
    public init(
        target: Target, transport: Transport = .authorization, material: AttackMaterial, surroundings: Surroundings,
        send: @escaping Send
    ) {
        self.target = target
        self.transport = transport
        self.material = material
        self.surroundings = surroundings
        self.send = send
    }

    /// Makes the attacks.
    ///
    /// Throws `RunError` if the target cannot be judged at all: it refuses the good token, or lets everybody in.
    public func run(_ attacks: [Attack], progress: @Sendable (AttackResult) -> Void = { _ in }) async throws -> Report {
        try await checkTarget()
        let trustsSigner = try await isAccepted(signedControl())
        var report = Report(
            transport: transport, signer: material.issuer == nil ? .none : trustsSigner ? .trusted : .refused)
        // One request is both the control after an attack and the one before the next.
        var isReady = true
        for attack in attacks {
            if let reason = skipReason(attack, trustsSigner: trustsSigner) {
                report.skipped.append(SkippedAttack(attack: attack, reason: reason))
                continue
            }
            guard let payload = try attack.payload(from: material), let request = transport.request(payload, to: target)
            else {
                report.skipped.append(SkippedAttack(attack: attack, reason: "does not fit the target's key or token"))
                continue
            }
            if !isReady { isReady = try await controlFault() == nil }
            let result =
                try await isReady
                ? make(attack, payload, request, isReady: &isReady)
                : AttackResult(
                    attack: attack, verdict: .inconclusive, detail: "not made: the good token was refused before it")
            report.results.append(result)
            progress(result)
        }
        return report
    }

    // MARK: Attacks

    private func make(
        _ attack: Attack, _ payload: Payload, _ request: RawRequest, isReady: inout Bool
    ) async throws -> AttackResult {
        let visitsBefore = surroundings.canaryVisits()
        let outcome = try await outcome(of: request)
        var judgement = transport.verdict(on: attack, payload, outcome)
        if let fault = try await controlFault() {
            isReady = false
            // An attack that ends the service is a success of the attacker's, whatever was answered.
            if judgement.verdict != .fail { judgement = fault }
        }
        if surroundings.canaryVisits() > visitsBefore {
            judgement = Judgement(.fail, "the target went to an address that the token named")
        }
        let status: Int? = if case .success(let response) = outcome { response.status } else { nil }
        return AttackResult(attack: attack, verdict: judgement.verdict, status: status, detail: judgement.detail)
    }

    private func skipReason(_ attack: Attack, trustsSigner: Bool) -> String? {
        guard attack.mode == .signed else { return nil }
        if material.issuer == nil { return "needs a key that the target trusts" }
        return trustsSigner ? nil : "the target does not trust the key"
    }

    // MARK: Controls

    private func checkTarget() async throws {
        switch try await outcome(of: transport.bareRequest(to: target)) {
        case .success(let response) where transport.isAccepted(response):
            throw RunError(.unprotected, "the target lets everybody in: it answers \(response.status) without a token")
        case .failure(let failure) where failure.code == .unreachable:
            throw RunError(.unreachable, failure.description)
        case .success, .failure: break
        }
        switch try await outcome(of: control()) {
        case .success(let response) where transport.isAccepted(response): return
        case .success(let response):
            throw RunError(.goodTokenRefused, "the target refuses the good token with \(response.status)")
        case .failure(let failure):
            throw RunError(.unreachable, "the target does not answer the good token: \(failure.description)")
        }
    }

    /// What is wrong after an attack, or nil.
    private func controlFault() async throws -> Judgement? {
        let outcome = try await outcome(of: control())
        if case .success(let response) = outcome, transport.isAccepted(response) { return nil }
        if let expiry = material.goodTokenExpiry, surroundings.now() >= expiry {
            return Judgement(.inconclusive, "the good token has expired meanwhile")
        }
        switch outcome {
        case .success(let response) where response.status == 429 || response.status == 503:
            return Judgement(.inconclusive, "the good token got \(response.status) afterwards: lower the rate")
        case .success(let response):
            return Judgement(.fail, "the good token was refused afterwards with \(response.status)")
        case .failure(let failure):
            return Judgement(.fail, "the good token got no answer afterwards: \(failure.description)")
        }
    }

    private func control() throws -> RawRequest {
        guard let request = transport.request(.token(material.goodToken), to: target) else {
            throw RunError(.unreachable, "no request can be made for the target")
        }
        return request
    }

    private func signedControl() throws -> RawRequest? {
        guard material.issuer != nil else { return nil }
        return transport.request(.token(try material.signedControl()), to: target)
    }

    private func isAccepted(_ request: RawRequest?) async throws -> Bool {
        guard let request, case .success(let response) = try await outcome(of: request) else { return false }
        return transport.isAccepted(response)
    }

    private func outcome(of request: RawRequest) async throws -> Result<RawResponse, SendFailure> {
        try await surroundings.pause()
        do {
            return .success(try await send(request))
        } catch let failure as SendFailure {
            return .failure(failure)
        }
    }
}

/// Why a target cannot be judged.
public struct RunError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of fault.
    public enum Code: String, Sendable {
        case unprotected
        case goodTokenRefused = "good_token_refused"
        case unreachable
    }

    /// The kind of fault.
    public let code: Code
    /// One sentence.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Equality of the codes.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}
