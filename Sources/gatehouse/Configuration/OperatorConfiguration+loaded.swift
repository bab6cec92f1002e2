import AdminAPI
import EdgeConfiguration

extension OperatorConfiguration {
    /// The effective configuration as `config show` writes it, with where each key was given.
    init(_ loaded: LoadedConfiguration) {
        let configuration = loaded.configuration
        let draft = ConfigurationDraft(configuration, stateURLFile: loaded.stateURLFile)
        var values: [Value] = []
        for setting in GatewaySettings.all {
            guard let shown = setting.show(draft) else { continue }
            values.append(Self.value(setting.key, ConfigurationText.text(of: shown), loaded.places[setting.key]))
        }
        values += Self.values("routes", configuration.routes, RouteSettings.all, loaded)
        values += Self.values("issuers", configuration.issuers, IssuerSettings.all, loaded)
        values += Self.values("events", configuration.events, EventSettings.all, loaded)
        values += Self.values("identity_providers", configuration.identityProviders, ProviderSettings.all, loaded)
        self.init(files: loaded.file.map { [$0] } ?? [], values: values)
    }

    /// The values of a list's entries, with an index in their keys.
    private static func values<Root>(
        _ name: String, _ roots: [Root], _ settings: [Setting<Root>], _ loaded: LoadedConfiguration
    ) -> [Value] {
        roots.enumerated().flatMap { index, root in
            settings.compactMap { setting in
                setting.show(root).map { shown in
                    let key = "\(name)[\(index)].\(setting.key)"
                    let isInFile = loaded.secretFiles.file(of: key) != nil
                    return value(
                        key, isInFile ? "redacted" : ConfigurationText.text(of: shown), loaded.places.nearest(to: key))
                }
            }
        }
    }

    /// A value and where it comes from: a flag, the environment, a line of the file, or the default.
    private static func value(_ key: String, _ text: String, _ place: String?) -> Value {
        guard let place else { return Value(key: key, value: text, from: "default") }
        if place.hasPrefix("--") { return Value(key: key, value: text, from: "flag") }
        guard let line = ConfigurationPlace(place)?.line else {
            return Value(key: key, value: text, from: "environment")
        }
        return Value(key: key, value: text, from: "file", line: line)
    }
}

/// A place in the file: `FILE:LINE:COLUMN`.
struct ConfigurationPlace: Equatable {
    /// As it was named, perhaps relative to the working directory; it may contain colons.
    let file: String
    /// Counted from 1.
    let line: Int64

    /// Nil for a variable, a flag, or a file without a line.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count >= 3, let line = Int64(parts[parts.count - 2]), Int64(parts[parts.count - 1]) != nil else {
            return nil
        }
        file = parts.dropLast(2).joined(separator: ":")
        self.line = line
    }
}
