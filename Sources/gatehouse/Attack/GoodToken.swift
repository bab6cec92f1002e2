import Foundation

/// Reads the valid token from the command line, the environment, the profile, or standard input.
enum GoodToken {
    /// Where the token stands in the environment, so that it is in no list of processes.
    static let variable = AttackVariable(name: "GATEHOUSE_ATTACK_TOKEN")
    /// How many seconds `token.command` may take. It is ended then, and what it has printed counts.
    private static let patience: TimeInterval = 30

    /// The token from the option, the environment or standard input.
    static func read(_ option: String?) throws -> [UInt8] {
        if let option, option != "-" { return Array(option.utf8) }
        if option == nil, let value = try fromEnvironment() { return value }
        guard option == "-" || !Terminal.isInteractive else {
            throw CommandFailure(
                "no good token: give --token or --profile, pipe it in, or set \(variable.name)", status: .misused)
        }
        guard let bytes = try Terminal.input(limit: TokenInput.limit) else {
            throw CommandFailure("more than \(Quantity.size(TokenInput.limit)) on standard input", status: .misused)
        }
        let token = trimmed(bytes)
        guard !token.isEmpty else {
            throw CommandFailure(
                "no good token on standard input: give --token or set \(variable.name)", status: .misused)
        }
        return token
    }

    /// The token of ``variable``, or of the file that is named in its place; nil if neither is set.
    static func fromEnvironment() throws(CommandFailure) -> [UInt8]? {
        guard let text = try variable.value() else { return nil }
        return Array(text.utf8)
    }

    /// The token in a file.
    static func read(file path: String) throws -> [UInt8] {
        guard let bytes = try FileBytes.read(path, limit: TokenInput.limit) else {
            throw CommandFailure("\(path): no such file: 'token.file' names the good token's", status: .misused)
        }
        let token = trimmed(bytes)
        guard !token.isEmpty else { throw CommandFailure("\(path): empty: put the good token there", status: .misused) }
        return token
    }

    /// The token that a command prints within 30 seconds.
    static func read(command: String) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            throw CommandFailure("'token.command' can't be run: \(error.localizedDescription)", status: .misused)
        }
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + patience)
        timer.setEventHandler { process.terminate() }
        timer.resume()
        defer { timer.cancel() }
        let bytes = try FileBytes.read(
            descriptor: output.fileHandleForReading.fileDescriptor, limit: TokenInput.limit, name: "'token.command'")
        process.terminate()
        process.waitUntilExit()
        guard let bytes, case let token = trimmed(bytes), !token.isEmpty else {
            throw CommandFailure(
                "'token.command' prints no token: it prints the good token and exits", status: .misused)
        }
        return token
    }

    /// Without white space, a line feed at the end for example.
    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        bytes.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    }
}
