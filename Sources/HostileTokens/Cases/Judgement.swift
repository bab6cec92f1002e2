/// A verdict and its reason.
struct Judgement: Sendable {
    let verdict: Verdict
    let detail: String
    /// Whether the target gave no answer in time.
    let isSilent: Bool

    init(_ verdict: Verdict, _ detail: String, isSilent: Bool = false) {
        self.verdict = verdict
        self.detail = detail
        self.isSilent = isSilent
    }

    /// Inconclusive, because there was no answer.
    init(_ failure: SendFailure) {
        self.init(.inconclusive, failure.description, isSilent: failure.code == .timedOut)
    }

    /// The target did what it must.
    static func passed(_ detail: String) -> Judgement { Judgement(.passed, detail) }
    /// The target did what it must not, and `detail` says what.
    static func failed(_ detail: String) -> Judgement { Judgement(.failed, detail) }
}
