import Encodings
import HostileTokens

/// A report file to write: `json=FILE`, `junit=FILE` or `sarif=FILE`.
struct ReportFile {
    /// The formats of a report: the gateway's own, that of CI servers, and that of code scanners.
    enum Format: String {
        /// The only one with requests and answers, which `--replay` needs, and so with tokens.
        case json
        /// A test for each case: those that stayed open are errors, those that failed failures.
        case junit
        /// SARIF 2.1.0: a result for each case that failed or stayed open.
        case sarif
    }

    let format: Format
    private let file: OutputFile

    /// Parses the option; nil if it has another form.
    init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, let format = Format(rawValue: String(parts[0])) else { return nil }
        self.format = format
        // A JSON report contains tokens, including the valid one.
        file = OutputFile(path: String(parts[1]), isSecret: format == .json)
    }

    /// Checks, before anything is sent, that the file can be written.
    func check() throws(CommandFailure) {
        try file.check()
    }

    /// Writes the report in its format. Throws where the file can't be written.
    func write(_ report: Report, target: String) throws(CommandFailure) {
        switch format {
        case .json: try file.write(report.json(target: target).serialized() + "\n")
        case .junit: try file.write(report.junit)
        case .sarif: try file.write(report.sarif(target: target, version: Version.current).serialized() + "\n")
        }
    }
}
