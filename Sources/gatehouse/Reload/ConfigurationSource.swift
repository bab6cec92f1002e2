import EdgeConfiguration

/// Where a running gateway's configuration came from, so that it can be read again: the same file, the same flags, and
/// the environment of the process.
struct ConfigurationSource: Sendable {
    /// The value of `--config`.
    var file: String?
    /// What the command line said, which still goes before the file when that is read again.
    var flags: [ConfigurationFlag] = []
    var loader = ConfigurationLoader.ofProcess()

    /// Reads the configuration, and checks the files that it names as `config check` does.
    func load() throws(ConfigurationFaults) -> LoadedConfiguration {
        let loaded = try loader.load(file: file, flags: flags)
        try NamedFiles.check(of: loaded, contents: loader.contents)
        return loaded
    }

    /// The same for a running gateway: a file that has become empty is taken to be one that is being written, and not a
    /// configuration of defaults alone.
    func reload() throws(ConfigurationFaults) -> LoadedConfiguration {
        let loaded = try loader.load(file: file, flags: flags)
        if let contents = loaded.contents, !contents.contains(where: { $0 > 0x20 }) {
            throw ConfigurationFaults(faults: [ConfigurationFault(place: "\(path):1", message: "the file is empty")])
        }
        try NamedFiles.check(of: loaded, contents: loader.contents)
        return loaded
    }

    private var path: String {
        loader.named(file) ?? ConfigurationLoader.defaultFile
    }

    /// The bytes of the file that would be read; nil where there is none or it can't be read.
    func contents() -> [UInt8]? {
        (try? loader.contents(path)) ?? nil
    }
}
