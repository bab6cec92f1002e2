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

    /// How the tokens travelled.
    public let transport: Transport
    /// Which powers the run had.
    public let signer: Signer
    /// The attacks that were made, in their order.
    public var results: [AttackResult] = []
    /// The attacks that were not made.
    public var skipped: [SkippedAttack] = []

    /// An empty report.
    public init(transport: Transport, signer: Signer) {
        self.transport = transport
        self.signer = signer
    }

    /// How many attacks came out so.
    public func count(_ verdict: Verdict) -> Int {
        results.count { $0.verdict == verdict }
    }

    /// The number of failures, which is at most 125: shells give the rest another meaning.
    public var exitCode: Int32 {
        Int32(min(count(.fail), 125))
    }

    /// One line about the whole run.
    public var summary: String {
        let powers =
            switch signer {
            case .none: "black box"
            case .trusted: "black box and signed"
            case .refused: "black box (the target refused the signer's good token)"
            }
        return "\(results.count) attacks over \(transport.rawValue), \(powers): \(count(.pass)) passed, "
            + "\(count(.fail)) failed, \(count(.inconclusive)) inconclusive, \(skipped.count) skipped"
    }
}
