@testable import gatehouse

/// Reads a configuration from texts instead of a disk and a process.
func load(
    _ yaml: String? = nil, environment: [String: String] = [:], flags: [ConfigurationFlag] = [], file: String? = nil
) throws(ConfigurationFaults) -> LoadedConfiguration {
    let loader = ConfigurationLoader(environment: environment) { path throws(ConfigurationFault) in
        path == (file ?? ConfigurationLoader.defaultFile) ? yaml.map { Array($0.utf8) } : nil
    }
    return try loader.load(file: file, flags: flags)
}

/// The faults of a configuration, as an operator reads them; none if it is good.
func faults(
    _ yaml: String? = nil, environment: [String: String] = [:], flags: [ConfigurationFlag] = []
) -> [String] {
    do throws(ConfigurationFaults) {
        _ = try load(yaml, environment: environment, flags: flags, file: "g.yaml")
        return []
    } catch {
        return error.faults.map(\.description)
    }
}
