import Foundation
import Synchronization

@testable import StateSurface

/// A private PostgreSQL on a Unix socket in a temporary folder, gone with the process that started it.
final class PostgresCluster: Sendable {
    static let binaries = "/usr/lib/postgresql/15/bin"
    static let isAvailable = FileManager.default.isExecutableFile(atPath: binaries + "/initdb")

    /// Shared by the tests that only need a database of their own.
    static let shared = Result { try PostgresCluster() }

    private let folder: String
    private let running = Mutex<(process: Process, lifeline: Pipe)?>(nil)

    init() throws {
        // Short: the path of a Unix socket has at most 107 bytes.
        folder = "/tmp/gh-pg-\(UInt32.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Self.shell(
            "chown \(Self.user) \(folder) && \(Self.asUser) \(Self.binaries)/initdb -D \(folder)/data "
                + "-A trust -U gatehouse -E UTF8 --no-locale --no-sync")
        try start()
    }

    /// The watching shell ends the server when its standard input, held by this process, is closed.
    func start() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            """
            \(Self.asUser) \(Self.binaries)/postgres -D \(folder)/data -k \(folder) -c listen_addresses= \
            -c fsync=off -c max_connections=200 >>\(folder)/log 2>&1 </dev/null & server=$!
            cat >/dev/null
            kill -QUIT $server; wait $server; [ -e \(folder)/keep ] || rm -rf \(folder)
            """,
        ]
        let lifeline = Pipe()
        process.standardInput = lifeline
        try process.run()
        running.withLock { $0 = (process, lifeline) }
        try waitUntilReady()
    }

    /// Stops the server at once and keeps its data.
    func stop() throws {
        _ = FileManager.default.createFile(atPath: folder + "/keep", contents: nil)
        try remove()
        try FileManager.default.removeItem(atPath: folder + "/keep")
    }

    /// Stops the server at once; its data goes with it.
    func remove() throws {
        let was = running.withLock { running in
            defer { running = nil }
            return running
        }
        try was?.lifeline.fileHandleForWriting.close()
        was?.process.waitUntilExit()
    }

    /// Freezes the server: its kernel still accepts bytes, nobody answers them.
    func pause() throws { try signal("STOP") }
    func resume() throws { try signal("CONT") }

    private func signal(_ name: String) throws {
        try Self.shell("server=$(head -1 \(folder)/data/postmaster.pid); kill -\(name) $server $(pgrep -P $server)")
    }

    func url(database: String) -> String { "postgresql://gatehouse@/\(database)?host=\(folder)" }

    /// Runs statements on one database.
    func run(_ sql: String, database: String = "postgres") throws {
        _ = try PostgresSettings(url: url(database: database)).connect().run(sql)
    }

    func createDatabase() throws -> String {
        let name = "t\(UInt64.random(in: .min ... .max))"
        try run("CREATE DATABASE \(name)")
        return name
    }

    private func waitUntilReady() throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            do {
                return try run("SELECT 1")
            } catch {
                guard ContinuousClock.now < deadline else { throw error }
                usleep(50_000)
            }
        }
    }

    /// PostgreSQL refuses to run as root.
    private static let user = getuid() == 0 ? "postgres" : "\(getuid())"
    private static let asUser =
        getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups" : ""

    private static func shell(_ command: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "(\(command)) >/dev/null"]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw StateSurfaceError(.failed, "a command for the test server failed")
        }
    }
}
