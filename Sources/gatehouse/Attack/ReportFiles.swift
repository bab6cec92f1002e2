import Encodings
import Glibc
import HostileTokens

/// A report file to write: `json=FILE`, `junit=FILE` or `sarif=FILE`.
struct ReportFile {
    enum Format: String {
        case json
        case junit
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

    func write(_ report: Report, target: String) throws(CommandFailure) {
        switch format {
        case .json: try file.write(report.json(target: target).serialized() + "\n")
        case .junit: try file.write(report.junit)
        case .sarif: try file.write(report.sarif(target: target, version: Version.current).serialized() + "\n")
        }
    }
}

/// A file that a command writes.
struct OutputFile {
    let path: String
    /// Whether only its owner may read it, also if the file was there before.
    var isSecret = false

    /// Checks that the file can be written.
    func check() throws(CommandFailure) {
        close(try descriptor(truncating: false))
    }

    func write(_ text: String) throws(CommandFailure) {
        let descriptor = try descriptor(truncating: true)
        defer { close(descriptor) }
        guard Terminal.write(text, to: descriptor) else { throw failure("not written: ") }
    }

    private func descriptor(truncating: Bool) throws(CommandFailure) -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (truncating ? O_TRUNC : 0)
        let descriptor = open(path, flags, isSecret ? 0o600 : 0o644)
        guard descriptor >= 0 else { throw failure() }
        var facts = stat()
        if isSecret, fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG { fchmod(descriptor, 0o600) }
        return descriptor
    }

    private func failure(_ what: String = "") -> CommandFailure {
        CommandFailure("\(path): \(what)\(FileBytes.reason(errno))", status: .misused)
    }
}
