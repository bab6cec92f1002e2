import Encodings
import JOSE

/// All findings, as text for people or as JSON.
struct DoctorReport: Sendable {
    let findings: [DoctorFinding]
    /// Where a key was given: `FILE:LINE:COLUMN`, a variable or a flag; the file for one that was not given.
    let place: @Sendable (String) -> String

    /// Whether any finding is `wrong`, so that the exit status is 1.
    var hasFaults: Bool { findings.contains { $0.level == .wrong } }

    /// One line for each finding, what is wrong first, and a last line that counts.
    var lines: [String] {
        let ordered = DoctorFinding.Level.allCases.flatMap { level in findings.filter { $0.level == level } }
        return ordered.map(line) + [summary]
    }

    private var summary: String {
        let count = { (level: DoctorFinding.Level) in findings.count { $0.level == level } }
        return "wrong: \(count(.wrong)), notes: \(count(.note)), in order: \(count(.good))"
    }

    /// `LEVEL  CHECK KEY (PLACE) MESSAGE: ADVICE`, safe to print on a terminal.
    private func line(_ finding: DoctorFinding) -> String {
        let level = finding.level.rawValue.padded(to: 5)
        let key = finding.key.isEmpty ? "" : " \(finding.key) (\(place(finding.key)))"
        let advice = finding.advice.isEmpty ? "" : ": \(finding.advice)"
        return TerminalText.escaped("\(level)  \(finding.check.padded(to: 9))\(key) \(finding.message)\(advice)")
    }

    /// `{"findings": […], "wrong": N, "notes": N}`.
    var json: JSONValue {
        var root = JSONObject()
        root["findings"] = .array(
            findings.map { finding in
                var object: JSONObject = [
                    "level": .string(finding.level.rawValue), "check": .string(finding.check),
                    "message": .string(finding.message),
                ]
                if !finding.key.isEmpty {
                    object["key"] = .string(finding.key)
                    object["place"] = .string(place(finding.key))
                }
                if !finding.advice.isEmpty { object["advice"] = .string(finding.advice) }
                return .object(object)
            })
        root["wrong"] = .integer(Int64(findings.count { $0.level == .wrong }))
        root["notes"] = .integer(Int64(findings.count { $0.level == .note }))
        return .object(root)
    }
}

extension String {
    /// With spaces at the end, up to this many characters.
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
