import EdgeConfiguration
import Logging

/// The configuration that was read, and warnings for the operator.
struct LoadedConfiguration: Sendable {
    let configuration: GatewayConfiguration
    /// What is allowed but probably not meant, such as an issuer without https.
    let warnings: [ConfigurationFault]
    /// The file it was read from; nil if there was none.
    let file: String?
    /// The bytes of that file.
    var contents: [UInt8]?
    /// Where each key was given, by key: `FILE:LINE:COLUMN`, a variable or a flag.
    var places: [String: String] = [:]
    /// The file of `state.url_file`; nil if `state.url` was given itself.
    var stateURLFile: String?
    /// The files that hold values of the entries of lists, such as `events[0].url`.
    var secretFiles: [SecretFile] = []

    /// The same with another configuration: keys that need a restart keep what they were.
    func with(_ configuration: GatewayConfiguration) -> LoadedConfiguration {
        LoadedConfiguration(
            configuration: configuration, warnings: warnings, file: file, contents: contents, places: places,
            stateURLFile: stateURLFile, secretFiles: secretFiles)
    }

    /// Where a key was given, or the nearest one above it; the file for one that was not.
    func place(of key: String) -> String { places.nearest(to: key) ?? file ?? "configuration" }

    /// Logs the warnings, one line each.
    func logWarnings(to logger: Logger) {
        for warning in warnings {
            logger.warning(
                "configuration",
                metadata: ["place": "\(warning.place)", "key": "\(warning.key)", "reason": "\(warning.message)"])
        }
    }
}

/// A command-line flag that sets a key: its name, the key, and the value.
struct ConfigurationFlag: Sendable {
    /// As it is written, `--listen`: the place of faults of its value.
    let name: String
    /// The key that it sets, `server.listen`.
    let key: String
    /// Not parsed yet; the elements of a list are separated by commas.
    let value: String
}
