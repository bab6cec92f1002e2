/// The result of one case.
public struct CaseResult: Sendable {
    /// The case.
    public let info: CaseInfo
    /// The verdict.
    public let verdict: Verdict
    /// The status of the answer; nil if there was none.
    public let status: Int?
    /// One sentence that contains no part of a token.
    public let reason: String
    /// The bytes that were sent and received. They contain tokens.
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
