extension Report {
    /// The report as a table: the cases that did not pass, or all; then the cases that were left out with the reason;
    /// then the summary.
    public func text(all: Bool = false) -> String {
        let shown = results.filter { $0.isMade && (all || $0.verdict != .passed) }
        let width = shown.map { $0.info.id.count }.max() ?? 0
        let lines = shown.map { result in
            let id = result.info.id + String(repeating: " ", count: max(0, width - result.info.id.count))
            return "\(Self.mark(result.verdict))  \(id)  \(result.info.title): \(result.reason) "
                + "(expected: \(result.info.expected); \(result.info.reference))"
        }
        return (lines + omissions + [summary, ""]).joined(separator: "\n")
    }

    /// The cases that were not run, grouped by the reason.
    private var omissions: [String] {
        var groups: [(verdict: Verdict, reason: String, count: Int)] = []
        for result in results where !result.isMade {
            if let index = groups.firstIndex(where: { $0.reason == result.reason && $0.verdict == result.verdict }) {
                groups[index].count += 1
            } else {
                groups.append((result.verdict, result.reason, 1))
            }
        }
        return groups.map { "\(Self.mark($0.verdict))  \($0.count) case\($0.count == 1 ? "" : "s"): \($0.reason)" }
    }

    private static func mark(_ verdict: Verdict) -> String {
        switch verdict {
        case .passed: "pass"
        case .failed: "FAIL"
        case .inconclusive: "????"
        case .skipped: "skip"
        }
    }
}

extension CaseResult {
    /// Whether requests were sent for it.
    fileprivate var isMade: Bool {
        verdict == .passed || verdict == .failed || (verdict == .inconclusive && !evidence.isEmpty)
    }
}
