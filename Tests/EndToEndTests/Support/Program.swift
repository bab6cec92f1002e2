import Foundation

/// Programs of the machine.
enum Program {
    /// Runs a program to its end; what it says to standard error is lost.
    static func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: Data) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, data)
    }

    /// Whether a program is there and does what it is asked.
    static func succeeds(_ program: String, _ arguments: String...) -> Bool {
        (try? run(program, arguments).status) == 0
    }

    /// A script of the tests.
    static func script(_ name: String) -> String {
        GatewayProcess.packageRoot.appendingPathComponent("Tests/EndToEndTests/Scripts/\(name)").path
    }
}
