@testable import HostileTokens

extension Report {
    /// The ids of the cases with this verdict.
    func ids(_ verdict: Verdict) -> Set<String> {
        Set(results.filter { $0.verdict == verdict }.map(\.info.id))
    }

    /// The number of cases that were run.
    var made: Int { results.count - count(.skipped) }

    /// The cases that were run and did not pass, for the message of a test.
    var complaints: [String] {
        results.filter { $0.verdict == .failed || $0.verdict == .inconclusive }.map { "\($0.info.id): \($0.reason)" }
    }
}
