/// What came of a case.
public enum Verdict: String, Sendable, CaseIterable {
    /// The target did what it should.
    case passed
    /// It did not.
    case failed
    /// It cannot be told: no answer, a rate limit, or a control request that went wrong.
    case inconclusive
    /// It was not made: the target or the attacker lacks what it takes.
    case skipped
}

/// One case and what came of it.
public struct CaseResult: Sendable {
    /// The case.
    public let info: CaseInfo
    /// The verdict.
    public let verdict: Verdict
    /// The status that was answered; nil if there was none.
    public let status: Int?
    /// One sentence; never a part of a token.
    public let reason: String
    /// The bytes that were sent and received; they hold tokens.
    public let evidence: [Exchange]

    /// A result.
    public init(
        info: CaseInfo, verdict: Verdict, status: Int? = nil, reason: String, evidence: [Exchange] = []
    ) {
        self.info = info
        self.verdict = verdict
        self.status = status
        self.reason = reason
        self.evidence = evidence
    }
}
