import Foundation
import Synchronization

/// The built binary, run as a user would: one configuration file, one state file, one key directory, one port.
final class GatewayProcess: GatewayUnderTest {
    let directory: URL
    let origin: String
    let port: Int
    private let process: Process
    private let errors: Mutex<Data>
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
        let known = Set((try? run(["users", "list", "--json"], in: place).output).map { listedEmails($0) } ?? [])
        for user in users where !known.contains(user.email) { try add(user, in: place) }
        return try await launch(place, environment: environment, listen: listen)
    }

    static func makeDirectory() throws -> URL {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return place
    }

    private static func listedEmails(_ json: String) -> [String] {
        let object = try? JSONSerialization.jsonObject(with: Data(json.utf8))
        let rows = object as? [[String: Any]] ?? (object as? [String: Any])?["users"] as? [[String: Any]] ?? []
        return rows.compactMap { $0["email"] as? String }
    }

    static func add(_ user: TestUser, in place: URL) throws {
        var arguments = ["users", "add", user.email, "--tenant", user.tenant, "--password-stdin"]
        for scope in user.scopes { arguments += ["--scope", scope] }
        let result = try run(arguments, in: place, input: user.password)
        guard result.status == 0 else { throw Failure(description: "users add: \(result.errors)") }
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
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        process.standardInput = stdin
        process.standardOutput = stdout
        process.standardError = stderr
        try process.run()
        try? stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try? stdin.fileHandleForWriting.close()
        let output = stdout.fileHandleForReading.readDataToEndOfFile()
        let errors = stderr.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        TestOutputs.keep(String(decoding: errors, as: UTF8.self), kind: "errors")
        return (
            process.terminationStatus, String(decoding: output, as: UTF8.self), String(decoding: errors, as: UTF8.self)
        )
    }

    private static func stateArguments(_ place: URL) -> [String] {
        ["--state", "sqlite:\(place.path)/state.sqlite"]
    }

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
        let (stdout, stderr) = (Pipe(), Pipe())
        process.standardOutput = stdout
        process.standardError = stderr
        try process.run()
        return try await GatewayProcess(place, process, stdout, stderr)
    }

    private init(_ place: URL, _ process: Process, _ stdout: Pipe, _ stderr: Pipe) async throws {
        self.directory = place
        self.process = process
        self.errors = Mutex(Data())
        let ready = await Self.firstLine(of: stdout)
        let origin = String(ready.dropFirst("ready ".count))
        guard ready.hasPrefix("ready "), let port = Self.port(of: origin) else {
            process.terminate()
            let said = String(decoding: stderr.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            throw Failure(description: "not ready: \(said)")
        }
        self.origin = origin
        self.port = port
        stderr.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil } else { self?.errors.withLock { $0 += data } }
        }
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
    var log: String { errors.withLock { String(decoding: $0, as: UTF8.self) } }
    var isRunning: Bool { process.isRunning }
    var processID: Int32 { process.processIdentifier }

    /// Asks it to drain (SIGTERM) and waits for its end.
    @discardableResult
    func stop() -> Int32 {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        if !isKept.exchange(true, ordering: .relaxed) { TestOutputs.keep(log: log, of: directory) }
        return process.terminationStatus
    }

    /// Ends it without warning (SIGKILL).
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
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
