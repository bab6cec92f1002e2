import ArgumentParser

/// `--config`, which every command that needs the configuration takes.
struct ConfigurationOptions: ParsableArguments {
    @Option(name: .customLong("config"), help: .init("The configuration file.", valueName: "file"))
    var file: String?

    /// Reads the configuration as the gateway does, and prints warnings.
    func load(flags: [ConfigurationFlag] = [], warn: Bool = true) throws(ConfigurationFaults) -> LoadedConfiguration {
        let loaded = try ConfigurationLoader.ofProcess().load(file: file, flags: flags)
        if warn {
            for warning in loaded.warnings { Terminal.notice("warning: \(warning)") }
        }
        return loaded
    }
}
