import Configuration
import EdgeConfiguration
import Experience
import JOSE
import Logging
import SecurityGuard

/// Makes a configuration from flags, environment, file and defaults, in this order of precedence.
///
/// Environment and files are passed in, so that it can be tested without them.
struct ConfigurationLoader: Sendable {
    /// What is read where neither flag nor variable names a file. It may be missing.
    static let defaultFile = "config/gatehouse.yaml"
    private static let prefix = "GATEHOUSE_"
    /// The variable that names the file, like `--config`.
    static let fileVariable = "GATEHOUSE_CONFIG"

    /// The variables of the process, those of other programs among them.
    let environment: [String: String]
    /// Reads a file; nil if it does not exist.
    let contents: @Sendable (String) throws(ConfigurationFault) -> [UInt8]?

    /// Reads the configuration. `file` is the value of `--config`.
    func load(
        file named: String? = nil, flags: [ConfigurationFlag] = []
    ) throws(ConfigurationFaults)
        -> LoadedConfiguration
    {
        var draft = ConfigurationDraft()
        var faults: [ConfigurationFault] = []
        var warnings: [ConfigurationFault] = []
        let (file, contents) = readFile(self.named(named), into: &draft, faults: &faults)
        applyEnvironment(to: &draft, faults: &faults)
        for flag in flags {
            apply(flag.value, to: flag.key, from: flag.name, &draft, &faults)
        }
        takeStateURL(into: &draft, faults: &faults)
        takePassphrase(into: &draft, faults: &faults)
        warnings += unknownVariables(
            besides: draft.configuration.identityProviders.flatMap { [$0.secretVariable, $0.secretVariable + "_FILE"] })
        ConfigurationChecks.check(&draft, place: file ?? "configuration", faults: &faults, warnings: &warnings)
        guard faults.isEmpty else { throw ConfigurationFaults(faults: faults) }
        return LoadedConfiguration(
            configuration: draft.configuration, warnings: warnings, file: file, contents: contents,
            places: draft.places, stateURLFile: draft.stateURLFile, secretFiles: draft.secretFiles)
    }

    // MARK: The file

    /// The file that is named by `--config`, or else by the variable; an empty variable counts as none.
    func named(_ file: String?) -> String? {
        file ?? environment[Self.fileVariable].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Reads the file into the draft, and returns its name and its bytes. A file that was not named may be missing.
    private func readFile(
        _ named: String?, into draft: inout ConfigurationDraft, faults: inout [ConfigurationFault]
    ) -> (file: String?, contents: [UInt8]?) {
        let file = named ?? Self.defaultFile
        // An empty variable counts as none, so this is the flag.
        guard !file.isEmpty else {
            let message = "names no file: give its path, or leave --config out for \(Self.fileVariable) or "
            faults.append(.init(place: "--config", message: message + Self.defaultFile))
            return (nil, nil)
        }
        var found: [UInt8]?
        do {
            guard let bytes = try contents(file) else {
                if named != nil {
                    let message = "no such file: correct --config or \(Self.fileVariable), or create it"
                    faults.append(.init(place: file, message: message))
                }
                return (nil, nil)
            }
            found = bytes
            if let root = try FileValue.parse(bytes, file: file), !root.isEmpty {
                read(root, into: &draft, faults: &faults)
            }
        } catch {
            faults.append(error)
        }
        return (file, found)
    }

    /// Notes where an entry of a list is, its keys, and those below them.
    private func note(_ entry: FileValue, as name: String, in places: inout [String: String]) {
        places[name] = entry.place
        for (key, value) in entry.mapping ?? [] {
            let name = "\(name).\(key.text ?? "")"
            places[name] = value.place
            for (key, value) in value.mapping ?? [] { places["\(name).\(key.text ?? "")"] = value.place }
        }
    }

    /// Reads the sections and lists of a file.
    private func read(_ root: FileValue, into draft: inout ConfigurationDraft, faults: inout [ConfigurationFault]) {
        guard let mapping = root.mapping else {
            faults.append(.init(place: root.place, message: "expected sections such as 'server:' at the left margin"))
            return
        }
        let reader = SettingReader(settings: GatewaySettings.all, elsewhere: Self.lists)
        reader.read(
            mapping.filter { !Self.lists.contains($0.key.text ?? "") }, into: &draft, faults: &faults
        ) { draft, key, place in draft.places[key] = place }
        if let value = root.value(of: "server.tls"), !value.isEmpty { draft.placeOfTLS = value.place }
        var secrets = SecretFiles(contents: contents)
        for (key, value) in mapping {
            for (index, entry) in (value.list ?? []).enumerated() {
                note(entry, as: "\(key.text ?? "")[\(index)]", in: &draft.places)
            }
            switch key.text {
            case "routes": draft.configuration.routes = RouteReader.routes(value, secrets: &secrets, faults: &faults)
            case "issuers": draft.configuration.issuers = RouteReader.issuers(value, secrets: &secrets, faults: &faults)
            case "events": draft.configuration.events = RouteReader.events(value, secrets: &secrets, faults: &faults)
            case "identity_providers":
                let before = faults.count
                var providers = ProviderReader.providers(value, secrets: &secrets, faults: &faults)
                if faults.count == before {
                    ProviderReader.check(
                        &providers, in: value, files: contents, environment: environment, faults: &faults)
                }
                draft.configuration.identityProviders = providers
            default: break
            }
        }
        for file in secrets.found where draft.places[file.valueKey] == nil { draft.places[file.valueKey] = file.place }
        draft.secretFiles = secrets.found
    }

    // MARK: Variables and flags

    /// The environment variable for a key.
    static func variable(for key: String) -> String {
        prefix + key.uppercased().replacing(".", with: "_")
    }

    /// Sets what environment variables say, over the file.
    private func applyEnvironment(to draft: inout ConfigurationDraft, faults: inout [ConfigurationFault]) {
        let provider = EnvironmentVariablesProvider(environmentVariables: environment)
        let reader = ConfigReader(provider: provider.prefixKeys(with: "gatehouse"))
        for setting in GatewaySettings.all {
            // Read as a string, because a malformed number must be a fault and not a missing value.
            guard let text = reader.string(forKey: ConfigKey(setting.key), isSecret: true) else { continue }
            apply(text, to: setting.key, from: Self.variable(for: setting.key), &draft, &faults)
        }
    }

    /// Takes over the passphrase of the keys from its variable. It has no key in the file, so that `config show` cannot
    /// print it.
    private func takePassphrase(into draft: inout ConfigurationDraft, faults: inout [ConfigurationFault]) {
        guard let text = environment[KeyPassphrase.variable] else { return }
        if draft.configuration.keys.passphraseFile != nil {
            faults.append(
                .init(
                    place: KeyPassphrase.variable, message: "is set beside keys.passphrase_file: give one of the two"))
        }
        do throws(GuardError) {
            draft.configuration.keys.passphrase = try KeyPassphrase(Array(text.utf8))
        } catch {
            faults.append(.init(place: KeyPassphrase.variable, message: error.message))
        }
    }

    /// Takes over the URL of the store from its file. A flag that names the store takes precedence; `state.url` in the
    /// configuration file or in its variable, beside the file, is a fault.
    private func takeStateURL(into draft: inout ConfigurationDraft, faults: inout [ConfigurationFault]) {
        guard let path = draft.stateURLFile else { return }
        let place = draft.places["state.url_file"] ?? "configuration"
        if let other = draft.places["state.url"] {
            let isFlag = other.hasPrefix("--")
            if !isFlag {
                let message = "is given beside state.url: give one of the two"
                faults.append(.init(place: place, key: "state.url_file", message: message))
            }
            return
        }
        let file = SecretFile(key: "state.url_file", valueKey: "state.url", path: path, place: place)
        do throws(ConfigurationFault) {
            let url = try file.read(contents)
            let count = faults.count
            apply(url, to: file.valueKey, from: place, &draft, &faults)
            if faults.count == count { draft.places[file.valueKey] = place }
        } catch {
            faults.append(error)
        }
    }

    /// Sets one value of an environment variable or a flag. Lists are separated by commas.
    private func apply(
        _ text: String, to key: String, from place: String, _ draft: inout ConfigurationDraft,
        _ faults: inout [ConfigurationFault]
    ) {
        guard let setting = GatewaySettings.all.first(where: { $0.key == key }) else { return }
        var texts = [text]
        if setting.shape != .scalar {
            texts = text.split(separator: ",").map { String($0.trimmed) }.filter { !$0.isEmpty }
        }
        if setting.isOpenWhenEmpty, texts.isEmpty {
            let message = "is empty, which would lift the restriction: unset it, or list some"
            faults.append(.init(place: place, message: message))
            return
        }
        do {
            try setting.set(&draft, texts.map { SettingEntry(text: $0) })
            draft.places[key] = place
        } catch {
            faults.append(.init(place: place, message: error.message))
        }
    }

    /// The keys that variables cannot set.
    private static let lists = ["routes", "issuers", "identity_providers", "events"]

    /// Whether a variable is that of the key, or of a key below it.
    private static func isOrBelow(_ name: String, _ variable: String) -> Bool {
        name == variable || name.hasPrefix(variable + "_")
    }

    /// Warnings of variables that begin with the prefix and are unknown.
    private func unknownVariables(besides secrets: [String]) -> [ConfigurationFault] {
        let others = [Self.fileVariable, KeyPassphrase.variable] + secrets
        let known = Set(GatewaySettings.all.map { Self.variable(for: $0.key) } + others)
        let unknown = environment.keys.filter { $0.hasPrefix(Self.prefix) && !known.contains($0) }
        return unknown.sorted().map { name in
            if let list = Self.lists.first(where: { Self.isOrBelow(name, Self.variable(for: $0)) }) {
                let message = "is ignored: '\(list)' is a list of mappings, which only the file can hold"
                return ConfigurationFault(place: TerminalText.escaped(name), message: message)
            }
            let nearest = NearestKey.nearest(to: name, among: known.sorted()) ?? ""
            return ConfigurationFault(
                place: TerminalText.escaped(name), message: "overrides no key and is ignored; the nearest is \(nearest)"
            )
        }
    }
}

extension Substring {
    /// The text without surrounding white space.
    fileprivate var trimmed: Substring {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

extension [String: String] {
    /// The place of a key, or of the nearest one above it; nil for none.
    func nearest(to key: String) -> String? {
        var key = key[...]
        while true {
            if let place = self[String(key)] { return place }
            guard let dot = key.lastIndex(of: ".") else { return nil }
            key = key[..<dot]
        }
    }
}
