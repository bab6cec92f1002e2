import ArgumentParser
import EdgeConfiguration
import Experience
import SecurityGuard

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
                let place = loaded.file ?? "configuration"
                let faults =
                    ServerFiles.faults(
                        of: loaded, contents: ConfigurationLoader.ofProcess().contents)
                    + IssuerFiles.faults(of: loaded, contents: ConfigurationLoader.ofProcess().contents)
                    + passphraseFaults(of: loaded.configuration, place: place)
                guard faults.isEmpty else { throw ConfigurationFaults(faults: faults) }
                Terminal.answer("ok: \(loaded.file ?? "no file, defaults and environment only")")
            } catch {
                for fault in error.faults { Terminal.notice("\(fault)") }
                throw ExitCode(CommandFailure.Status.misused.rawValue)
            }
        }

        /// The faults that `serve` would find in the passphrase file. Whether the passphrase decrypts the keys is not
        /// checked here.
        private func passphraseFaults(of configuration: GatewayConfiguration, place: String) -> [ConfigurationFault] {
            do throws(GuardError) {
                _ = try configuration.keys.readPassphrase()
                return []
            } catch {
                return [ConfigurationFault(place: place, message: error.message)]
            }
        }
    }

    /// `config show`: prints the effective configuration without secrets.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the effective configuration as YAML, secrets taken out.")

        @OptionGroup var options: ConfigurationOptions

        func run() throws {
            Terminal.answer(ConfigurationText.yaml(try options.load().configuration))
        }
    }
}
