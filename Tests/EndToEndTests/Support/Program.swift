import Foundation

/// Programs of the machine.
enum Program {
    /// Runs a program to its end; what it says to standard error is lost.
    static func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: Data) {
        let (process, output) = try start(program, arguments)
        let data = output.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, data)
    }

    /// Whether HTTP/2 can be spoken by something that is not ours.
    static let speaksHTTP2 = succeeds("python3", "-c", "import h2") && succeeds("openssl", "version")

    /// Whether a program is there and does what it is asked.
    static func succeeds(_ program: String, _ arguments: String...) -> Bool {
        (try? run(program, arguments).status) == 0
    }

    /// The next line of what a program says; what there was of it if it ends before.
    static func line(_ output: FileHandle) throws -> String {
        var line = Data()
        while let byte = try output.read(upToCount: 1)?.first, byte != 0x0a { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }

    /// Starts a program whose standard output is read while it runs.
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

    /// A script of the tests.
    static func script(_ name: String) -> String {
        GatewayProcess.packageRoot.appendingPathComponent("Tests/EndToEndTests/Scripts/\(name)").path
    }
}
