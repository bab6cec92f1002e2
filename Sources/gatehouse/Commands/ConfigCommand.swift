import ArgumentParser
import EdgeConfiguration
import Experience

/// `gatehouse config`: checks and shows the configuration.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Checks and shows the configuration.",
        subcommands: [Check.self, Show.self])

    /// `config check`: prints every fault with its place, or `ok`.
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Reads file and environment, and prints 'ok' or every fault with its place.")

        @OptionGroup var options: ConfigurationOptions

        func run() throws {
            do throws(ConfigurationFaults) {
                let loaded = try options.load()
                try NamedFiles.check(of: loaded, contents: ConfigurationLoader.ofProcess().contents)
                Terminal.answer("ok: \(loaded.file ?? "no file, defaults and environment only")")
            } catch {
                for fault in error.faults { Terminal.notice("\(fault)") }
                throw ExitCode(CommandFailure.Status.misused.rawValue)
            }
        }
    }

    /// `config show`: prints the effective configuration without secrets.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the effective configuration as YAML, secrets taken out.")

        @OptionGroup var options: ConfigurationOptions

        func run() throws {
            var configuration = try options.load().configuration
            if configuration.server.listen.port != 0 || configuration.server.listen.path != nil {
                configuration.tokens.issuer = configuration.issuer
            }
            Terminal.answer(ConfigurationText.yaml(configuration))
        }
    }
}
