/// The results of a run.
public struct Report: Sendable {
    /// Whether a trusted signer was available.
    public enum Signer: String, Sendable {
        /// None was given, so signed attacks were skipped.
        case none
        /// Its valid token was accepted.
        case trusted
        /// Its valid token was refused, so signed attacks would have proved nothing.
        case refused
    }

    /// What the attacker had.
    public enum Power: String, Sendable, CaseIterable {
        /// No credentials.
        case blackBox = "black-box"
        /// A valid token.
        case token
        /// Two users who can sign in.
        case twoUsers = "two-users"
        /// A signing key that the target trusts.
        case key
    }

    /// The control requests of a run.
    public struct Controls: Sendable, Equatable {
        /// The number of control requests.
        public internal(set) var made = 0
        /// The number of them that were not accepted.
        public internal(set) var lost = 0
        /// One of them. It contains the valid token.
        public internal(set) var example: Exchange?

        mutating func count(isLost: Bool) {
            made += 1
            if isLost { lost += 1 }
        }
    }

    /// How the tokens were sent.
    public let transport: Transport
    /// Whether a trusted signer was available.
    public var signer: Signer
    /// What the attacker had.
    public var powers: [Power] = [.blackBox]
    /// The results of all cases in their order, including those that were not run.
    public var results: [CaseResult] = []
    /// The control requests.
    public var controls = Controls()

    /// An empty report.
    public init(transport: Transport, signer: Signer) {
        self.transport = transport
        self.signer = signer
    }

    /// The report on a target that could not be judged at all.
    public static func unjudged(_ cases: [HostileCase], transport: Transport, reason: String) -> Report {
        var report = Report(transport: transport, signer: .none)
        report.results = cases.map { CaseResult(info: $0.info, verdict: .inconclusive, reason: "not made: \(reason)") }
        return report
    }

    /// The number of cases with this verdict.
    public func count(_ verdict: Verdict) -> Int {
        results.count { $0.verdict == verdict }
    }

    /// 1 if a case failed; otherwise 2 if a case is inconclusive or none passed; otherwise 0.
    public var exitCode: Int32 {
        if count(.failed) > 0 { return 1 }
        return count(.inconclusive) > 0 || count(.passed) == 0 ? 2 : 0
    }

    /// The summary of the run in one line.
    public var summary: String {
        let refused = signer == .refused ? " (the target refused a good token signed with the key)" : ""
        return "\(results.count - count(.skipped)) cases over \(transport.rawValue), "
            + "powers \(powers.map(\.rawValue).joined(separator: " "))\(refused): \(count(.passed)) passed, "
            + "\(count(.failed)) failed, \(count(.inconclusive)) inconclusive, \(count(.skipped)) skipped"
    }
}
