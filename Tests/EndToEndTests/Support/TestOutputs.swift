import Foundation
import Testing

/// Keeps what gateways and commands of the tests have written, where GATEHOUSE_TEST_OUTPUTS names a folder. `make test`
/// has `.ci/redaction` search all of it for credentials afterwards.
enum TestOutputs {
    private static let folder = ProcessInfo.processInfo.environment["GATEHOUSE_TEST_OUTPUTS"].map {
        URL(fileURLWithPath: $0, isDirectory: true)
    }

    /// Keeps a text under a name of its own.
    static func keep(_ text: String, kind: String) {
        guard let folder, !text.isEmpty else { return }
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try? Data(text.utf8).write(to: folder.appendingPathComponent("\(UUID().uuidString).\(kind)"))
    }

    /// Keeps the log of a gateway that has stopped, and the logs in its folder.
    static func keep(log: String, of directory: URL) {
        guard folder != nil else { return }
        keep(log, kind: "log")
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
