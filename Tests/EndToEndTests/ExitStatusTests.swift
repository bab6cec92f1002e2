import Foundation
import Testing

/// Wrong usage and wrong configuration exit with 2, of every command that there is.
@Suite(.blocking) struct ExitStatusTests {
    /// One command of the program, as its own description lists it.
    private struct Command: Sendable {
        let path: [String]
        /// What it needs, so that it comes as far as its configuration.
        let arguments: [String]
        let takesConfiguration: Bool
    }

    private struct Run: Sendable {
        let arguments: [String]
        /// What the error says.
        let word: String
    }

    private struct Outcome: Sendable {
        let status: Int32
        /// What it wrote, to either stream.
        let said: String
    }

    /// A value of each kind that a command needs. A command that needs another kind needs a row here.
    private static let values = [
        "email": "ada@example.com", "user": "ada@example.com", "id": "abc", "name": "ci",
        "client-id": "cli_AAAAAAAAAAAAAAAAAAAAAA", "ids": "ses_AAAAAAAAAAAAAAAAAAAAAA", "kid": "k", "file": "f",
        "files": "f", "request-id": "r", "subject": "usr_AAAAAAAAAAAAAAAAAAAAAA",
    ]
    /// What is needed beyond what the description says.
    private static let more = [
        "users set": ["--no-groups"], "token verify": ["--key", "k"], "attack": ["http://127.0.0.1:1"],
    ]
    /// Commands whose file is not the configuration, each with a missing one.
    private static let otherFiles = [
        ["attack", "http://127.0.0.1:1", "--profile", "/nowhere.yaml"],
        ["token", "verify", "--key", "/nowhere.yaml", "a.b.c"],
    ]

    /// All commands, from the description of the program that shells complete by.
    private static func commands(in place: URL) throws -> [Command] {
        let dump = try GatewayProcess.run(["--experimental-dump-help"], in: place, stateful: false)
        let description = try JSONSerialization.jsonObject(with: Data(dump.output.utf8)) as? [String: Any]
        let root = try #require(description?["command"] as? [String: Any])
        var found: [Command] = []
        try collect(root, path: [], into: &found)
        return found
    }

    private static func collect(_ command: [String: Any], path: [String], into found: inout [Command]) throws {
        let below = command["subcommands"] as? [[String: Any]] ?? []
        for next in below {
            try collect(next, path: path + [try #require(next["commandName"] as? String)], into: &found)
        }
        guard below.isEmpty else { return }
        var arguments: [String] = []
        var takesConfiguration = false
        for argument in command["arguments"] as? [[String: Any]] ?? [] {
            let names = (argument["names"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
            if names.contains("config") { takesConfiguration = true }
            guard argument["isOptional"] as? Bool == false else { continue }
            let kind = argument["valueName"] as? String ?? ""
            let value = try #require(values[kind], "\(path) needs a value of the kind '\(kind)'")
            if argument["kind"] as? String == "option" { arguments.append("--" + (names.first ?? "")) }
            arguments.append(value)
        }
        arguments += more[path.joined(separator: " ")] ?? []
        found.append(Command(path: path, arguments: arguments, takesConfiguration: takesConfiguration))
    }

    @Test("A missing or faulty configuration and an unknown flag exit with 2, of every command")
    func misuse() async throws {
        let place = try GatewayProcess.makeDirectory()
        try "server:\n  listn: 127.0.0.1:1\n".write(
            to: place.appendingPathComponent("bad.yaml"), atomically: true, encoding: .utf8)
        var runs = Self.otherFiles.map { Run(arguments: $0, word: "/nowhere.yaml: no such file") }
        let commands = try Self.commands(in: place)
        for command in commands {
            let base = command.path + command.arguments
            runs.append(Run(arguments: base + ["--frobnicate"], word: "'--frobnicate'"))
            guard command.takesConfiguration else { continue }
            runs.append(Run(arguments: base + ["--config", "/nowhere.yaml"], word: "/nowhere.yaml: no such file"))
            runs.append(Run(arguments: base + ["--config", "bad.yaml"], word: "bad.yaml:2:"))
        }
        #expect(commands.count >= 30 && commands.count { $0.takesConfiguration } >= 25)
        let workers = 4
        let lanes = (0..<workers).map { lane in runs.indices.filter { $0 % workers == lane }.map { runs[$0] } }
        let results = try await together(
            lanes.map { lane in
                { @Sendable () throws -> [Outcome] in
                    try lane.map { run in
                        let result = try GatewayProcess.run(run.arguments, in: place, stateful: false)
                        return Outcome(status: result.status, said: result.output + result.errors)
                    }
                }
            })
        for (lane, results) in zip(lanes, results) {
            for (run, result) in zip(lane, results) {
                #expect(result.status == 2 && result.said.contains(run.word), "\(run.arguments): \(result)")
            }
        }
    }
}
