extension Report {
    /// The table for people: what did not pass, or everything, and the summary last.
    public func text(all: Bool = false) -> String {
        let shown = all ? results : results.filter { $0.verdict != .pass }
        let width = shown.map { $0.attack.id.count }.max() ?? 0
        let lines = shown.map { result in
            let id = result.attack.id + String(repeating: " ", count: max(0, width - result.attack.id.count))
            return "\(Self.mark(result.verdict))  \(id)  \(result.attack.title): \(result.detail) "
                + "(expected: \(result.attack.expectation.text); \(result.attack.reference))"
        }
        return (lines + [summary, ""]).joined(separator: "\n")
    }

    private static func mark(_ verdict: Verdict) -> String {
        switch verdict {
        case .pass: "pass"
        case .fail: "FAIL"
        case .inconclusive: "????"
        }
    }
}
