import Foundation
import Synchronization

/// Programs of the machine.
enum Program {
    private static let turn = NSLock()
    private static let isInstalled = Mutex<[String: Bool]>([:])

    /// Starts a process, with its pipes made by `prepare`: one process at a time, since one that is started between the
    /// making of another's pipe and its start would inherit that pipe, and its reader wait for the end of both.
    static func start<Pipes>(_ process: Process, _ prepare: () -> Pipes) throws -> Pipes {
        turn.lock()
        defer { turn.unlock() }
        let pipes = prepare()
        try process.run()
        return pipes
    }

    /// Pipes for output and errors of a process.
    static func outputs(of process: Process) -> (output: Pipe, errors: Pipe) {
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        return (output, errors)
    }

    /// What comes out of both until they end. They are read side by side: a program that has filled the one that is not
    /// read would wait for ever.
    static func read(_ pipes: (output: Pipe, errors: Pipe)) throws -> (output: Data, errors: Data) {
        let handle = pipes.errors.fileHandleForReading
        let errors = Running { handle.readDataToEndOfFile() }
        let output = pipes.output.fileHandleForReading.readDataToEndOfFile()
        return (output, try errors.value() ?? Data())
    }

    static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], in directory: URL? = nil
    ) throws -> (status: Int32, output: Data, errors: String) {
        let process = Process()
        if let directory { process.currentDirectoryURL = directory }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (output, errors) = try read(start(process) { outputs(of: process) })
        process.waitUntilExit()
        return (process.terminationStatus, output, String(decoding: errors, as: UTF8.self))
    }

    /// Starts a program whose standard output is read while it runs.
    ///
    /// - Parameter errors: where it writes its standard error; by default that is lost.
    static func start(
        _ program: String, _ arguments: [String], errors: FileHandle = .nullDevice
    ) throws -> (process: Process, output: FileHandle) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardError = errors
        let output = try start(process) {
            let output = Pipe()
            process.standardOutput = output
            return output
        }
        return (process, output.fileHandleForReading)
    }

    /// The next line of what a program says; what there was of it if it ends before.
    static func line(_ output: FileHandle) throws -> String {
        var line = Data()
        while let byte = try output.read(upToCount: 1)?.first, byte != 0x0a { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// A script of the tests.
    static func script(_ name: String) -> String {
        GatewayProcess.packageRoot.appendingPathComponent("Tests/EndToEndTests/Scripts/\(name)").path
    }

    /// Whether Python has all these packages, which are found and not imported: some of them take seconds to load.
    static func pythonHas(_ packages: String) -> Bool {
        packages.split(separator: ",").allSatisfy { name in
            isInstalled.withLock { known in
                let name = name.trimmingCharacters(in: .whitespaces)
                if let known = known[name] { return known }
                let find = "import sys, importlib.util as util; sys.exit(util.find_spec(sys.argv[1]) is None)"
                let isFound = (try? run("python3", ["-c", find, name]).status) == 0
                known[name] = isFound
                return isFound
            }
        }
    }
}
