/// The verdict on a case.
public enum Verdict: String, Sendable, CaseIterable {
    /// The target did what a correct target does.
    case passed
    /// The target did something else.
    case failed
    /// It could not be judged: there was no answer, a rate limit, or a failed control request.
    case inconclusive
    /// It was not run, because something it needs is missing.
    case skipped
}
