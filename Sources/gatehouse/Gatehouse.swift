import ArgumentParser
import Glibc

/// The command line. Every error is one line on standard error; wrong usage exits 2, everything else that fails 1.
@main
struct Gatehouse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gatehouse",
        abstract: "An authenticating edge: sessions, tokens, and what may pass to your services.",
        version: Version.current,
        subcommands: [
            ServeCommand.self, UsersCommand.self, ClientsCommand.self, SessionsCommand.self, KeysCommand.self,
            TokenCommand.self, AttackCommand.self, AuditCommand.self, ConfigCommand.self,
        ])

    static func main() async {
        // A reader that goes away (`gatehouse … | head`) is a failed write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // A file that may not grow is an error of the write, not the end of the process.
        signal(SIGXFSZ, SIG_IGN)
        do {
            var command = try parseAsRoot(CommandArguments.ofProcess())
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            leave(with: error)
        }
    }

    private static func leave(with error: any Error) -> Never {
        let code = exitCode(for: error)
        // Help and version are asked for, so they are an answer.
        if code.isSuccess { exit(withError: error) }
        if let status = error as? ExitCode { Glibc.exit(status.rawValue) }
        let status: CommandFailure.Status = code == .validationFailure ? .misused : .failed
        let failure = ErrorText.failure(error) ?? CommandFailure(message(for: error), status: status)
        Terminal.notice("gatehouse: \(ErrorText.oneLine(failure.description))")
        Glibc.exit(failure.status.rawValue)
    }
}

/// Which build this is.
enum Version {
    static let current = "0.1.0"
}
