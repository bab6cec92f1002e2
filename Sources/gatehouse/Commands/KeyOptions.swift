import ArgumentParser
import EdgeConfiguration
import Experience
import SecurityGuard

/// The options for the directory of keys. `--state` is accepted for uniformity, although keys are not in the store.
struct KeyOptions: ParsableArguments {
    @OptionGroup var state: StateOptions

    @Option(help: .init("The directory of the keys.", valueName: "dir"))
    var keys: String?

    /// The directory that the flags or the configuration name.
    func directory() throws -> KeyDirectory {
        let flags = keys.map { [ConfigurationFlag(name: "--keys", key: "keys.directory", value: $0)] } ?? []
        let loaded = try state.configuration.load(flags: flags, warn: false)
        let configuration = loaded.configuration
        return KeyDirectory(
            path: configuration.keys.directory, policy: try TokenPolicy(configuration),
            passphrase: try NamedFiles.passphrase(of: loaded), clock: SystemClock.milliseconds)
    }

    /// The same for commands that do not make the first key: a directory that is not there is probably mistyped.
    func existingDirectory() throws -> KeyDirectory {
        let directory = try directory()
        guard try directory.exists() else {
            let advice = "correct keys.directory (--keys); 'gatehouse keys generate' makes the first key"
            throw CommandFailure("there is no directory \(directory.path): \(advice)")
        }
        return directory
    }

    /// The audit log, for commands that change the keys: open it before the change, which is not made if it can't be
    /// recorded.
    func openAudit() throws -> CommandAudit { try CommandAudit(state.configuration.load(warn: false).configuration) }

    /// Warns of files in the directory that are ignored because they cannot be used.
    func warnOfStrays(in directory: KeyDirectory) {
        for fault in (try? directory.strayFaults()) ?? [] { Terminal.notice("warning: left out: \(fault.message)") }
    }

    /// The name of a key in messages.
    func place(of key: KeyDirectory.Listing) -> String {
        "\(key.entry.algorithm.rawValue) key \(key.entry.keyID)"
    }
}
