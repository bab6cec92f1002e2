/// What came of a run.
public struct Report: Sendable {
    /// Whether there was a signer that the target trusts.
    public enum Signer: String, Sendable {
        /// None was given: black box only.
        case none
        /// Its tokens were let in.
        case trusted
        /// Its good token was refused, so the signed attacks would have proved nothing.
        case refused
    }

    /// What the attacker had.
    public enum Power: String, Sendable, CaseIterable {
        /// What anybody has.
        case blackBox = "black-box"
        /// A good token.
        case token
        /// Two users who can sign in.
        case twoUsers = "two-users"
        /// A signing key that the target trusts.
        case key
    }

    /// The control requests of a run.
    public struct Controls: Sendable, Equatable {
        /// How many were made.
        public internal(set) var made = 0
        /// How many of them were not let in.
        public internal(set) var lost = 0
        /// One of them; it holds the good token.
        public internal(set) var example: Exchange?

        mutating func count(isLost: Bool) {
            made += 1
            if isLost { lost += 1 }
        }
    }

    /// How the tokens travelled.
    public let transport: Transport
    /// Whether a signer was there.
    public var signer: Signer
    /// What the attacker had.
    public var powers: [Power] = [.blackBox]
    /// The cases in their order, those that were not made included.
    public var results: [CaseResult] = []
    /// The control requests.
    public var controls = Controls()

    /// An empty report.
    public init(transport: Transport, signer: Signer) {
        self.transport = transport
        self.signer = signer
    }

    /// The report of a target that could not be judged at all.
    public static func unjudged(_ cases: [HostileCase], transport: Transport, reason: String) -> Report {
        var report = Report(transport: transport, signer: .none)
        report.results = cases.map { CaseResult(info: $0.info, verdict: .inconclusive, reason: "not made: \(reason)") }
        return report
    }

    /// How many cases came out so.
    public func count(_ verdict: Verdict) -> Int {
        results.count { $0.verdict == verdict }
    }

    /// 1 if anything failed, else 2 if anything stayed open or nothing was judged, else 0.
    public var exitCode: Int32 {
        if count(.failed) > 0 { return 1 }
        return count(.inconclusive) > 0 || count(.passed) == 0 ? 2 : 0
    }

    /// One line about the whole run.
    public var summary: String {
        let refused = signer == .refused ? " (the target refused a good token signed with the key)" : ""
        return "\(results.count - count(.skipped)) cases over \(transport.rawValue), "
            + "powers \(powers.map(\.rawValue).joined(separator: " "))\(refused): \(count(.passed)) passed, "
            + "\(count(.failed)) failed, \(count(.inconclusive)) inconclusive, \(count(.skipped)) skipped"
    }
}
