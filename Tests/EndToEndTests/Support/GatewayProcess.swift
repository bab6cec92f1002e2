import Foundation
import Synchronization

/// The built binary, run as a user would: one configuration file, one state file, one key directory, one port.
final class GatewayProcess: GatewayUnderTest {
    let directory: URL
    let origin: String
    let port: Int
    private let process: Process
    private let output: ProcessOutput
    private let errors: ProcessOutput
    /// Whether its outputs have been kept.
    private let isKept = Atomic<Bool>(false)

    static let binary: URL = {
        // A command that ends before it has read its input is a failed write, not the end of the tests.
        signal(SIGPIPE, SIG_IGN)
        if let path = ProcessInfo.processInfo.environment["GATEHOUSE_BINARY"] { return URL(fileURLWithPath: path) }
        return packageRoot.appendingPathComponent(".build/debug/gatehouse")
    }()

    static let packageRoot = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func start(
        _ configuration: String = "", users: [TestUser] = TestUser.standard, environment: [String: String] = [:],
        directory: URL? = nil, listen: String = "127.0.0.1:0"
    ) async throws -> GatewayProcess {
        let place = try directory ?? makeDirectory()
        let file = place.appendingPathComponent("gatehouse.yaml")
        try configuration.write(to: file, atomically: true, encoding: .utf8)
        try await TestAccounts.add(users, url: stateURL(place))
        return try await launch(place, environment: environment, listen: listen)
    }

    static func makeDirectory() throws -> URL {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return place
    }

    /// Runs one command of the CLI to its end, with the state and configuration of a place.
    static func run(
        _ arguments: [String], in place: URL, input: String = "", stateful: Bool = true,
        environment: [String: String] = [:]
    ) throws -> (status: Int32, output: String, errors: String) {
        let process = Process()
        process.executableURL = binary
        process.arguments = arguments + (stateful ? stateArguments(place) : [])
        process.currentDirectoryURL = place
        process.environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.hasPrefix("GATEHOUSE_") }.merging(environment) { $1 }
        let (stdin, pipes) = try Program.start(process) {
            let stdin = Pipe()
            process.standardInput = stdin
            return (stdin, Program.outputs(of: process))
        }
        try? stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try? stdin.fileHandleForWriting.close()
        let written = try Program.read(pipes)
        process.waitUntilExit()
        let (output, errors) = (
            String(decoding: written.output, as: UTF8.self), String(decoding: written.errors, as: UTF8.self)
        )
        TestOutputs.keep(command: arguments, output: output, errors: errors)
        return (process.terminationStatus, output, errors)
    }

    static func stateURL(_ place: URL) -> String { "sqlite:\(place.path)/state.sqlite" }

    private static func stateArguments(_ place: URL) -> [String] { ["--state", stateURL(place)] }

    private static func launch(
        _ place: URL, environment: [String: String], listen: String
    ) async throws -> GatewayProcess {
        let process = Process()
        process.executableURL = binary
        process.currentDirectoryURL = place
        var arguments = ["serve", "--config", place.appendingPathComponent("gatehouse.yaml").path, "--listen", listen]
        if environment["GATEHOUSE_SERVER_ADMIN"] == nil { arguments += ["--admin", "off"] }
        if environment["GATEHOUSE_STATE_URL"] == nil { arguments += stateArguments(place) }
        arguments += ["--keys", place.appendingPathComponent("keys").path]
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.hasPrefix("GATEHOUSE_") }.merging(environment) { $1 }
        let pipes = try Program.start(process) { Program.outputs(of: process) }
        return try await GatewayProcess(place, process, pipes.output, ProcessOutput(pipes.errors))
    }

    private init(_ place: URL, _ process: Process, _ stdout: Pipe, _ errors: ProcessOutput) async throws {
        self.directory = place
        self.process = process
        self.errors = errors
        let ready = await Self.firstLine(of: stdout)
        let output = ProcessOutput(stdout, after: ready + "\n")
        self.output = output
        let origin = String(ready.dropFirst("ready ".count))
        guard ready.hasPrefix("ready "), let port = Self.port(of: origin) else {
            process.terminate()
            errors.waitForEnd()
            output.waitForEnd()
            TestOutputs.keep(log: errors.text, of: place, kind: "failed.log")
            TestOutputs.keep(output.text, kind: "output")
            throw Failure(description: "not ready: \(errors.text)")
        }
        self.origin = origin
        self.port = port
    }

    private static func firstLine(of pipe: Pipe) async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var line = Data()
                while true {
                    let byte = pipe.fileHandleForReading.readData(ofLength: 1)
                    guard let first = byte.first, first != 0x0a else { break }
                    line.append(first)
                }
                continuation.resume(returning: String(decoding: line, as: UTF8.self))
            }
        }
    }

    /// What it has written to standard error so far.
    var log: String { errors.text }
    var isRunning: Bool { process.isRunning }
    var processID: Int32 { process.processIdentifier }

    /// Asks it to drain (SIGTERM) and waits for its end.
    @discardableResult
    func stop() -> Int32 {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        keepOutputs("log")
        return process.terminationStatus
    }

    /// Ends it without warning (SIGKILL).
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        keepOutputs("killed.log")
    }

    deinit {
        if process.isRunning { kill() } else { keepOutputs("log") }
    }

    /// Keeps what it has written, once it has ended.
    private func keepOutputs(_ kind: String) {
        errors.waitForEnd()
        output.waitForEnd()
        guard !isKept.exchange(true, ordering: .relaxed) else { return }
        TestOutputs.keep(log: log, of: directory, kind: kind)
        TestOutputs.keep(output.text, kind: "output")
    }
}

/// What a process writes to one of its outputs, read to its end on a thread of its own.
private final class ProcessOutput: Sendable {
    private let data: Mutex<Data>
    private let end = DispatchSemaphore(value: 0)

    /// - Parameter beginning: what has been read of it already.
    init(_ pipe: Pipe, after beginning: String = "") {
        data = Mutex(Data(beginning.utf8))
        let handle = pipe.fileHandleForReading
        Thread.detachNewThread { [self] in
            while case let part = handle.availableData, !part.isEmpty { data.withLock { $0 += part } }
            end.signal()
        }
    }

    var text: String { data.withLock { String(decoding: $0, as: UTF8.self) } }

    /// Waits for the last of it, which is there soon after the process has ended.
    func waitForEnd() {
        if end.wait(timeout: .now() + 10) == .success { end.signal() }
    }
}

/// An account that a test logs in with.
struct TestUser: Sendable {
    var email: String
    var password: String
    var tenant: String
    var scopes: [String] = []

    static let ada = TestUser(
        email: "ada@example.com", password: "correct horse", tenant: "acme", scopes: ["orders:read"])
    static let bob = TestUser(email: "bob@example.com", password: "battery staple", tenant: "acme")
    static let eve = TestUser(email: "eve@example.com", password: "hunter two two", tenant: "other")
    static let standard = [ada, bob, eve]
}
