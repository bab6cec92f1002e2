import Encodings
import Glibc
import HostileTokens

/// A report file to write: `json=FILE`, `junit=FILE` or `sarif=FILE`.
struct ReportFile {
    enum Format: String, CaseIterable {
        case json
        case junit
        case sarif
    }

    let format: Format
    let path: String

    /// Parses the option; nil if it has another form.
    init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, let format = Format(rawValue: String(parts[0])) else { return nil }
        self.init(format, String(parts[1]))
    }

    init(_ format: Format, _ path: String) {
        self.format = format
        self.path = path
    }

    /// Checks, before anything is sent, that the file can be written.
    func check() throws(CommandFailure) {
        close(try descriptor(truncating: false))
    }

    func write(_ report: Report, target: String) throws(CommandFailure) {
        let text =
            switch format {
            case .json: report.json(target: target).serialized() + "\n"
            case .junit: report.junit
            case .sarif: report.sarif(target: target, version: Version.current).serialized() + "\n"
            }
        let descriptor = try descriptor(truncating: true)
        defer { close(descriptor) }
        Terminal.write(text, to: descriptor)
    }

    /// Writes a text that holds no secrets to a file.
    static func write(_ text: String, to path: String) throws(CommandFailure) {
        let file = ReportFile(.sarif, path)
        let descriptor = try file.descriptor(truncating: true)
        defer { close(descriptor) }
        Terminal.write(text, to: descriptor)
    }

    /// Opens the file. A JSON report contains tokens, including the valid one, so only its owner may read it.
    private func descriptor(truncating: Bool) throws(CommandFailure) -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (truncating ? O_TRUNC : 0)
        let descriptor = open(path, flags, format == .json ? 0o600 : 0o644)
        guard descriptor >= 0 else {
            throw CommandFailure("\(path): \(FileBytes.reason(errno))", status: .misused)
        }
        return descriptor
    }
}
