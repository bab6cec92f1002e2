import Foundation
import Testing

/// Keeps what gateways and commands of the tests have written and sent, where GATEHOUSE_TEST_OUTPUTS names a folder.
/// `make test` has `.ci/redaction` search all of it for credentials afterwards; that also fails where a kind is
/// missing. Scripts that start gateways keep what these write as well (`Scripts/kept_outputs.py`).
enum TestOutputs {
    private static let folder = ProcessInfo.processInfo.environment["GATEHOUSE_TEST_OUTPUTS"].map {
        URL(fileURLWithPath: $0, isDirectory: true)
    }

    /// The commands whose result is a secret, by their first words: what they write to standard output is not kept.
    private static let secretResults = [
        ["token", "issue"],
        ["admin", "token"],
        // The secret of the client.
        ["clients", "add"],
        // The whole ids, which `sessions end` takes.
        ["sessions", "list"],
        // The evidence: every request as it was sent, with its token.
        ["attack"],
    ]

    /// Keeps what a command has written, except for a result that is a secret on purpose.
    static func keep(command arguments: [String], output: String, errors: String) {
        keep(errors, kind: "errors")
        if !isSecret(resultOf: arguments) { keep(output, kind: "output") }
    }

    /// Whether a command writes a secret to standard output on purpose.
    static func isSecret(resultOf arguments: [String]) -> Bool { secretResults.contains { arguments.starts(with: $0) } }

    /// Where a program of the tests writes what they do not read: a file of its own in the folder, or nowhere.
    static func sink(kind: String) -> FileHandle {
        guard let folder else { return .nullDevice }
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("\(UUID().uuidString).\(kind)")
        guard (try? Data().write(to: file)) != nil else { return .nullDevice }
        return (try? FileHandle(forWritingTo: file)) ?? .nullDevice
    }

    /// Keeps a text under a name of its own.
    static func keep(_ text: String, kind: String) {
        guard let folder, !text.isEmpty else { return }
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try? Data(text.utf8).write(to: folder.appendingPathComponent("\(UUID().uuidString).\(kind)"))
    }

    /// Keeps the log of a gateway that has ended, and the logs in its folder.
    ///
    /// - Parameter kind: how it has ended.
    static func keep(log: String, of directory: URL, kind: String = "log") {
        guard folder != nil else { return }
        keep(log, kind: kind)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        where name.contains("audit") || name.contains("access") {
            let file = directory.appendingPathComponent(name)
            if let text = try? String(contentsOf: file, encoding: .utf8) { keep(text, kind: name) }
        }
    }

    private static let times = ProcessInfo.processInfo.environment["GATEHOUSE_TEST_TIMES"].map {
        (path: $0, turn: NSLock())
    }

    /// Adds a line about a test to the file that GATEHOUSE_TEST_TIMES names: how many seconds it took once it had its
    /// turn, and its name.
    static func note(_ test: Test, took duration: Duration) {
        guard let times else { return }
        times.turn.withLock {
            let known = (try? String(contentsOfFile: times.path, encoding: .utf8)) ?? ""
            let line = "\(duration / .seconds(1))\t\(test.sourceLocation.fileName)\t\(test.displayName ?? test.name)\n"
            try? (known + line).write(toFile: times.path, atomically: true, encoding: .utf8)
        }
    }
}
