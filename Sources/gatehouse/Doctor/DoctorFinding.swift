import Encodings
import JOSE

/// What the doctor has to say about one thing: what was found, and what to change.
struct DoctorFinding: Sendable, Equatable {
    /// How bad it is. Only `wrong` makes the exit status 1.
    enum Level: String, Sendable, CaseIterable {
        /// The deployment does not work, or is not safe.
        case wrong
        /// Worth knowing; may be intended.
        case note
        /// Looked at, and in order.
        case good = "ok"
    }

    let level: Level
    /// The check, one word, such as `keys`.
    let check: String
    /// The key of the configuration to change; empty where none decides.
    var key = ""
    /// What was found. Never a secret.
    let message: String
    /// What to do; empty where there is nothing to do.
    var advice = ""

    /// A finding that makes the exit status 1. It always has advice.
    static func wrong(_ check: String, _ key: String = "", _ message: String, _ advice: String) -> Self {
        DoctorFinding(level: .wrong, check: check, key: key, message: message, advice: advice)
    }

    /// A finding that may be intended, and does not change the exit status.
    static func note(_ check: String, _ key: String = "", _ message: String, _ advice: String = "") -> Self {
        DoctorFinding(level: .note, check: check, key: key, message: message, advice: advice)
    }

    /// What was checked and is in order.
    static func good(_ check: String, _ message: String) -> Self {
        DoctorFinding(level: .good, check: check, message: message)
    }
}

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
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
