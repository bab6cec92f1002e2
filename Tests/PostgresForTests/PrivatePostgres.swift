import Foundation
import Synchronization

/// A PostgreSQL of the test's own on a Unix socket in a temporary folder, gone with the process that started it.
package final class PrivatePostgres: Sendable {
    package struct Failure: Error, CustomStringConvertible { package let description: String }

    private static let binaries: String? = {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(root)/\($0)/bin" }
            .first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }()
    package static var isAvailable: Bool { binaries != nil }

    /// For the tests that only need a database of their own.
    package static let shared = Result { try PrivatePostgres() }

    private let folder: String
    private let running = Mutex<(process: Process, lifeline: Pipe)?>(nil)

    package init() throws {
        // Short: the path of a Unix socket has at most 107 bytes.
        folder = "/tmp/gh-pg-\(UInt32.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Self.shell(
            "chown \(Self.user) \(folder) && \(Self.asUser) \(Self.binaries ?? "")/initdb -D \(folder)/data "
                + "-A trust -U gatehouse -E UTF8 --no-locale --no-sync")
        try start()
    }

    /// The watching shell ends the server when its standard input, held by this process, is closed.
    package func start() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            """
            \(Self.asUser) \(Self.binaries ?? "")/postgres -D \(folder)/data -k \(folder) -c listen_addresses= \
            -c fsync=off -c max_connections=400 >>\(folder)/log 2>&1 </dev/null & server=$!
            cat >/dev/null
            kill -QUIT $server; wait $server; [ -e \(folder)/keep ] || rm -rf \(folder)
            """,
        ]
        let lifeline = Pipe()
        process.standardInput = lifeline
        try process.run()
        running.withLock { $0 = (process, lifeline) }
        let deadline = ContinuousClock.now + .seconds(60)
        while (try? query("SELECT 1")) == nil {
            guard ContinuousClock.now < deadline else { throw Failure(description: "PostgreSQL does not start") }
            usleep(50_000)
        }
    }

    /// Stops the server at once and keeps its data.
    package func stop() throws {
        _ = FileManager.default.createFile(atPath: folder + "/keep", contents: nil)
        try remove()
        try FileManager.default.removeItem(atPath: folder + "/keep")
    }

    /// Stops the server at once; its data goes with it.
    package func remove() throws {
        let was = running.withLock { running in
            defer { running = nil }
            return running
        }
        try was?.lifeline.fileHandleForWriting.close()
        was?.process.waitUntilExit()
    }

    /// Freezes the server: its kernel still accepts bytes, but they are not answered.
    package func pause() throws { try signal("STOP") }
    package func resume() throws { try signal("CONT") }

    private func signal(_ name: String) throws {
        try Self.shell("server=$(head -1 \(folder)/data/postmaster.pid); kill -\(name) $server $(pgrep -P $server)")
    }

    package func url(database: String) -> String { "postgresql://gatehouse@/\(database)?host=\(folder)" }

    package func createDatabase() throws -> String {
        let name = "t\(UInt64.random(in: .min ... .max))"
        try query("CREATE DATABASE \(name)")
        return name
    }

    /// Runs one statement with psql and returns what it prints.
    @discardableResult
    package func query(_ sql: String, database: String = "postgres") throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: (Self.binaries ?? "") + "/psql")
        process.arguments = ["-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-d", url(database: database), "-c", sql]
        let (stdout, stderr) = (Pipe(), Pipe())
        process.standardOutput = stdout
        process.standardError = stderr
        try process.run()
        let output = stdout.fileHandleForReading.readDataToEndOfFile()
        let said = stderr.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: String(decoding: said, as: UTF8.self))
        }
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// PostgreSQL refuses to run as root.
    private static let user = getuid() == 0 ? "postgres" : "\(getuid())"
    private static let asUser = getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups" : ""

    private static func shell(_ command: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "(\(command)) >/dev/null"]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: "a command for PostgreSQL failed") }
    }
}
