import ArgumentParser
import Glibc

/// The command line. Every error is one line on standard error. Wrong usage exits with status 2, any other failure with
/// 1.
@main
struct Gatehouse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gatehouse",
        abstract: "An authenticating edge: sessions, tokens, and access to your services.",
        version: Version.current,
        subcommands: [
            ServeCommand.self, ReloadCommand.self, UsersCommand.self, ClientsCommand.self, SessionsCommand.self,
            KeysCommand.self, StateCommand.self,
            TokenCommand.self, AttackCommand.self, AuditCommand.self, ConfigCommand.self, DoctorCommand.self,
            AdminCommand.self,
        ])

    static func main() async {
        ProcessLimits.openStandardStreams()
        ProcessLimits.protectMemory()
        // Writing to a closed pipe (`gatehouse … | head`) should fail with an error and not end the process.
        signal(SIGPIPE, SIG_IGN)
        // Writing beyond the file size limit should fail with an error and not end the process.
        signal(SIGXFSZ, SIG_IGN)
        do {
            let arguments = CommandArguments.ofProcess()
            CommandArguments.hideSecrets()
            try requireKnown(helpFor: arguments)
            var command = try parseAsRoot(arguments)
            try requireComplete(command)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            try Terminal.requireAnswered()
        } catch {
            leave(with: error)
        }
    }

    /// Refuses `help` for a command that does not exist, which the parser answers with the general help.
    private static func requireKnown(helpFor arguments: [String]) throws(CommandFailure) {
        guard arguments.first == "help" else { return }
        var group: any ParsableCommand.Type = Self.self
        for name in arguments.dropFirst() where !name.hasPrefix("-") {
            guard let next = group.configuration.subcommands.first(where: { $0.name == name }) else {
                let names = group.configuration.subcommands.map { $0.name }.joined(separator: ", ")
                let advice = names.isEmpty ? "it has no commands of its own" : "the commands are \(names)"
                throw CommandFailure("help: no such command '\(name)': \(advice)", status: .misused)
            }
            group = next
        }
    }

    /// Refuses a group of commands without one of them, which would print its help and succeed: a script whose variable
    /// is empty would not notice.
    private static func requireComplete(_ command: any ParsableCommand) throws(CommandFailure) {
        let group = type(of: command)
        let names = group.configuration.subcommands.map { $0.name }.joined(separator: ", ")
        if names.isEmpty { return }
        throw CommandFailure(
            "which command of \(group.name)? \(names); --help explains them", status: .misused)
    }

    private static func leave(with error: any Error) -> Never {
        let code = exitCode(for: error)
        // Help and version were asked for, so they go to standard output.
        if code.isSuccess { exit(withError: error) }
        if let status = error as? ExitCode { Glibc.exit(status.rawValue) }
        let status: CommandFailure.Status = code == .validationFailure ? .misused : .failed
        let failure = ErrorText.failure(error) ?? CommandFailure(message(for: error), status: status)
        let arguments = Array(CommandLine.arguments.dropFirst())
        let text = CommandArguments.withoutSecrets(failure.description, arguments: arguments)
        Terminal.notice("gatehouse: \(ErrorText.oneLine(text))")
        Terminal.drain()
        Glibc.exit(failure.status.rawValue)
    }
}

extension ParsableCommand {
    /// What the command is called by. A type without a name of its own in `configuration` is one word.
    fileprivate static var name: String { configuration.commandName ?? String(describing: Self.self).lowercased() }
}
