import Foundation

/// Programs of the machine.
enum Program {
    static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], in directory: URL? = nil
    ) throws -> (status: Int32, output: Data, errors: String) {
        let process = Process()
        if let directory { process.currentDirectoryURL = directory }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (stdout, stderr) = (Pipe(), Pipe())
        process.standardOutput = stdout
        process.standardError = stderr
        try process.run()
        let output = stdout.fileHandleForReading.readDataToEndOfFile()
        let errors = stderr.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, output, String(decoding: errors, as: UTF8.self))
    }

    /// Starts a program whose standard output is read while it runs; what it says to standard error is lost.
    static func start(_ program: String, _ arguments: [String]) throws -> (process: Process, output: FileHandle) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
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

    /// Whether Python has a package.
    static func pythonHas(_ package: String) -> Bool {
        (try? run("python3", ["-c", "import \(package)"]).status) == 0
    }
}
