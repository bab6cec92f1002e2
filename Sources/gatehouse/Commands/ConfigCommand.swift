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

        /// Exits with status 2 if there is any fault, the files that the configuration names included. Each fault is a
        /// line on standard error.
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

        /// The output can be used as a configuration file, except for the secrets that were left out. The issuer is
        /// shown as the gateway would use it, unless it depends on a port that the system chooses.
        func run() throws {
            let loaded = try options.load()
            var configuration = loaded.configuration
            if configuration.server.listen.port != 0 || configuration.server.listen.path != nil {
                configuration.tokens.issuer = configuration.issuer
            }
            Terminal.answer(
                ConfigurationText.yaml(
                    configuration, files: loaded.secretFiles, stateURLFile: loaded.stateURLFile))
        }
    }
}
