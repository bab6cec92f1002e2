/// The state of one run.
///
/// It ends early when five attacks in a row get no answer in time, the target no longer answers the control, or five
/// answers to the control do not end. All later cases are then inconclusive.
struct RunState {
    /// The number of attacks in a row without an answer after which the run ends.
    private static let silenceLimit = 5

    let runner: Runner
    var report: Report
    private var token: [UInt8]?
    private var material: AttackMaterial?
    private let accounts: Accounts
    private var trustsSigner = false
    /// Whether the last control request was accepted. If so, none is made before the next case.
    private var isReady = true
    private var silence = 0
    /// The number of control requests in a row whose answer did not end.
    private var endless = 0
    /// Why the run has ended.
    private var end: String?
    /// Whether the last case was a hostile token that was accepted or sent the target somewhere, whatever has become of
    /// the target since.
    private var hasSucceeded = false

    init(_ runner: Runner) {
        self.runner = runner
        token = runner.token
        material = runner.material
        accounts = Accounts(runner.target.users)
        report = Report(transport: runner.transport, signer: .none)
    }

    // MARK: Before the first case

    mutating func begin() async throws {
        switch try await outcome(of: runner.transport.bareRequest(to: runner.target)) {
        case .success(let response) where isAccepted(response):
            throw RunError(.unprotected, "the target accepts requests without a token: it answers \(response.status)")
        case .failure(let failure) where failure.code != .closed || token == nil:
            throw RunError(.unreachable, failure.description)
        case .success, .failure: break
        }
        try await checkGoodToken()
        if let issuer = material, issuer.issuer != nil {
            let request = runner.transport.request(.token(try issuer.signedControl()), to: runner.target)
            if let request, case .success(let response) = try await outcome(of: request) {
                trustsSigner = isAccepted(response)
            }
            report.signer = trustsSigner ? .trusted : .refused
        }
        report.powers = powers
    }

    private mutating func checkGoodToken() async throws {
        guard token != nil, let request = control() else { return }
        let answer = try await outcome(of: request)
        report.controls.example = Exchange("control", request, answer)
        switch answer {
        case .success(let response) where isAccepted(response): report.controls.count(isLost: false)
        case .success(let response):
            throw RunError(.goodTokenRefused, "the target refuses the good token with \(response.status)")
        case .failure(let failure):
            throw RunError(.unreachable, "the target does not answer the good token: \(failure.description)")
        }
    }

    private var powers: [Report.Power] {
        var powers: [Report.Power] = [.blackBox]
        if token != nil { powers.append(.token) }
        if runner.target.users.count > 1 { powers.append(.twoUsers) }
        if trustsSigner { powers.append(.key) }
        return powers
    }

    // MARK: Cases

    mutating func result(of hostile: HostileCase) async throws -> CaseResult {
        let info = hostile.info
        if let reason = skipReason(hostile) { return CaseResult(info: info, verdict: .skipped, reason: reason) }
        if let end { return CaseResult(info: info, verdict: .inconclusive, reason: "not made: \(end)") }
        if !isReady, let fault = try await controlFault() {
            return CaseResult(info: info, verdict: .inconclusive, reason: "not made: \(fault)")
        }
        let made =
            switch hostile {
            case .token(let attack): try await make(attack)
            case .probe(let probe): try await make(probe)
            }
        guard made.verdict != .skipped else { return made }
        if let fault = try await controlFault() {
            // A token that was accepted counts in any case, and other failures while the target is there. All other
            // verdicts may be due to the failed control.
            if made.verdict == .failed, hasSucceeded || end == nil { return made }
            return CaseResult(
                info: info, verdict: .inconclusive, status: made.status, reason: fault, evidence: made.evidence)
        }
        return made
    }

    private mutating func make(_ attack: Attack) async throws -> CaseResult {
        let skipped = CaseResult(
            info: attack.info, verdict: .skipped, reason: "does not fit the target's key, token or carrier")
        guard let material, let payload = try attack.payload(from: material),
            let request = runner.transport.request(payload, to: runner.target)
        else { return skipped }
        let visits = runner.environment.canaryVisits()
        let outcome = try await outcome(of: request)
        var judgement = runner.transport.verdict(on: attack, payload, outcome, by: runner.target)
        count(judgement)
        hasSucceeded = false
        if case .success(let response) = outcome, !attack.expectation.isAccepted {
            hasSucceeded = isAccepted(response)
        }
        if runner.environment.canaryVisits() > visits {
            hasSucceeded = true
            judgement = .failed("the target went to an address that the token named")
        }
        let exchange = Exchange("attack", request, outcome)
        return CaseResult(
            info: attack.info, verdict: judgement.verdict, status: exchange.status, reason: judgement.detail,
            evidence: [exchange])
    }

    private mutating func make(_ probe: Probe) async throws -> CaseResult {
        let conversation = Conversation(
            target: runner.target, transport: runner.transport, token: token, material: material, accounts: accounts,
            wire: runner.wire, environment: runner.environment)
        hasSucceeded = false
        let judgement = try await probe.judge(conversation)
        count(judgement)
        let evidence = await conversation.finish()
        return CaseResult(
            info: probe.info, verdict: judgement.verdict, status: evidence.last?.status, reason: judgement.detail,
            evidence: evidence)
    }

    private mutating func count(_ judgement: Judgement) {
        guard judgement.verdict != .skipped else { return }
        silence = judgement.isSilent ? silence + 1 : 0
        if silence >= Self.silenceLimit { end = "\(silence) attacks in a row got no answer in time" }
    }

    private func skipReason(_ hostile: HostileCase) -> String? {
        let target = runner.target
        if case .token(let attack) = hostile, attack.isPolicy, !target.isStrict {
            return "a matter of policy: judged with --strict"
        }
        for need in hostile.info.needs {
            let isThere =
                switch need {
                case .token: token != nil
                case .jwt: material != nil
                case .key: trustsSigner
                case .login: !target.users.isEmpty
                case .twoUsers: target.users.count > 1
                case .socket: target.socketPath != nil
                case .oauth: target.oauth != nil
                case .canary: target.canaryPath != nil && runner.wire.arrivals != nil
                case .sessions, .refresh, .revoke, .ownership, .assertion, .protocolSessions:
                    target.promises.contains(need)
                }
            guard !isThere else { continue }
            return need == .key && material?.issuer != nil ? "the target does not trust the key" : need.absence
        }
        return nil
    }

    // MARK: Controls

    /// Why the control request fails; nil if it does not.
    private mutating func controlFault() async throws -> String? {
        let fault = try await faultOfOneControl()
        isReady = fault == nil
        report.controls.count(isLost: fault != nil)
        return fault
    }

    private mutating func faultOfOneControl() async throws -> String? {
        guard let request = control() else { return try await bareFault() }
        switch try await outcome(of: request) {
        case .success(let response) where isAccepted(response):
            count(response)
            return nil
        case .success(let response):
            if try await hasRenewed() { return nil }
            if let expiry = material?.goodTokenExpiry, runner.environment.now() >= expiry {
                return "the good token has expired meanwhile"
            }
            let advice = response.status == 429 || response.status == 503 ? ": lower the rate" : ""
            return "the good token got \(response.status) afterwards\(advice)"
        case .failure(let failure):
            // One lost connection is retried; after a second one the run ends.
            if case .success(let response) = try await outcome(of: request), isAccepted(response) {
                count(response)
                return nil
            }
            end = "the target no longer answers the good token: \(failure.description)"
            return end
        }
    }

    /// Ends the run after as many answers to the good token that did not end as answers may be missing.
    private mutating func count(_ response: RawResponse) {
        endless = response.isCut ? endless + 1 : 0
        if endless >= Self.silenceLimit { end = "\(endless) answers to the good token in a row did not end" }
    }

    /// The control if there is no valid token: any answer will do.
    private mutating func bareFault() async throws -> String? {
        let request = runner.transport.bareRequest(to: runner.target)
        if case .failure(let failure) = try await outcome(of: request) {
            end = "the target no longer answers: \(failure.description)"
        }
        return end
    }

    /// Gets another valid token; false if there is none.
    private mutating func hasRenewed() async throws -> Bool {
        guard let renew = runner.environment.renew, let fresh = try? await renew(), fresh != token else {
            return false
        }
        if let old = material {
            guard
                let next = try? AttackMaterial(
                    goodToken: fresh, keySet: old.keySetText, issuer: old.issuer, now: runner.environment.now(),
                    canaryURL: old.canaryURL)
            else { return false }
            material = next
        }
        token = fresh
        guard let request = control(), case .success(let response) = try await outcome(of: request) else {
            return false
        }
        return isAccepted(response)
    }

    private func control() -> RawRequest? {
        token.flatMap { runner.transport.request(.token($0), to: runner.target) }
    }

    private func isAccepted(_ response: RawResponse) -> Bool {
        runner.transport.isAccepted(response, by: runner.target)
    }

    private func outcome(of request: RawRequest) async throws -> Result<RawResponse, SendFailure> {
        try await runner.environment.pause()
        do {
            return .success(try await runner.wire.send(request))
        } catch let failure as SendFailure {
            return .failure(failure)
        }
    }
}
