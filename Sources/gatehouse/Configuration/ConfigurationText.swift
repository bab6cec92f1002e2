import EdgeConfiguration
import Experience

/// Writes a configuration as the file that would give it, without secrets.
enum ConfigurationText {
    /// The whole configuration as a file that would result in it, without secrets.
    ///
    /// - Parameters:
    ///   - files: the files that hold values of lists' entries, which are shown in the place of these values.
    ///   - stateURLFile: the file that holds `state.url`, in whose place it is shown; nil if none does.
    static func yaml(
        _ configuration: GatewayConfiguration, files: [SecretFile] = [], stateURLFile: String? = nil
    ) -> String {
        let draft = ConfigurationDraft(configuration, stateURLFile: stateURLFile)
        var lines: [String] = []
        var open: [Substring] = []
        for setting in GatewaySettings.all {
            if stateURLFile != nil, setting.key == "state.url" { continue }
            guard let shown = setting.show(draft) else { continue }
            var parts = setting.key.split(separator: ".")
            guard let name = parts.popLast() else { continue }
            for (depth, part) in parts.enumerated() where depth >= open.count || open[depth] != part {
                lines.append(indent(depth) + part + ":")
                open = Array(parts.prefix(depth + 1))
            }
            open = parts
            lines.append(indent(parts.count) + line(String(name), shown))
        }
        lines += list("routes", configuration.routes, RouteSettings.all, files)
        lines += list("issuers", configuration.issuers, IssuerSettings.all, files)
        lines += list("events", configuration.events, EventSettings.all, files)
        lines += list("identity_providers", configuration.identityProviders, ProviderSettings.all, files)
        return lines.joined(separator: "\n")
    }

    /// A list of entries, such as `routes`.
    private static func list<Root>(
        _ name: String, _ roots: [Root], _ settings: [Setting<Root>], _ files: [SecretFile]
    ) -> [String] {
        guard !roots.isEmpty else { return ["\(name): []"] }
        var lines = ["\(name):"]
        for (place, root) in roots.enumerated() {
            for (index, text) in entry(root, settings, "\(name)[\(place)]", files).enumerated() {
                lines.append((index == 0 ? "  - " : "    ") + text)
            }
        }
        return lines
    }

    /// The lines of one entry of a list. Keys such as `allow.groups` stand below their first part.
    private static func entry<Root>(
        _ root: Root, _ settings: [Setting<Root>], _ label: String, _ files: [SecretFile]
    ) -> [String] {
        var lines: [String] = []
        var open: Substring?
        for setting in settings {
            guard let shown = setting.show(root) else { continue }
            let parts = setting.key.split(separator: ".", maxSplits: 1)
            let section = parts.count == 2 ? parts.first : nil
            if let section, section != open { lines.append("\(section):") }
            open = section
            let (name, margin) = (String(parts.last ?? ""), section == nil ? "" : "  ")
            let ownFiles = files.filter { $0.valueKey == "\(label).\(setting.key)" }
            lines += withFiles(name, shown, ownFiles).map { margin + $0 }
        }
        return lines
    }

    /// The lines of one key: the file that holds its value, or the files that hold members of it and the other members.
    private static func withFiles<Root>(
        _ name: String, _ shown: Setting<Root>.Shown, _ files: [SecretFile]
    ) -> [String] {
        guard let file = files.first else { return [line(name, shown)] }
        switch shown {
        case .scalar:
            return [line("\(name)_file", Setting<Root>.Shown.scalar(file.path))]
        case .pairs(let pairs):
            let others = pairs.filter { pair in !files.contains { $0.member == pair.name } }
            let named = files.map { SettingEntry(name: $0.member, text: $0.path) }
            let lines = others.isEmpty ? [] : [line(name, Setting<Root>.Shown.pairs(others))]
            return lines + [line("\(name)_file", Setting<Root>.Shown.pairs(named))]
        case .list, .lists, .records:
            return [line(name, shown)]
        }
    }

    /// One setting.
    private static func line<Root>(_ name: String, _ shown: Setting<Root>.Shown) -> String {
        switch shown {
        case .scalar(let text): "\(name): \(scalar(text))"
        case .list(let texts): "\(name): [\(texts.map(scalar).joined(separator: ", "))]"
        case .pairs(let pairs):
            "\(name): {\(pairs.map { "\(scalar($0.name ?? "")): \(scalar($0.text))" }.joined(separator: ", "))}"
        case .lists(let lists):
            "\(name): {"
                + lists.map { "\(scalar($0.name)): [" + $0.texts.map(scalar).joined(separator: ", ") + "]" }
                .joined(separator: ", ") + "}"
        case .records(let records, let lists):
            "\(name): ["
                + records.map { record in "{" + record.map { member($0, in: lists) }.joined(separator: ", ") + "}" }
                .joined(separator: ", ") + "]"
        }
    }

    /// One member of a record, as a list if it is one.
    private static func member(_ member: NamedTexts, in lists: Set<String>) -> String {
        let texts = member.texts.map(scalar).joined(separator: ", ")
        return "\(member.name): " + (lists.contains(member.name) ? "[\(texts)]" : texts)
    }

    /// A value alone, on one line.
    static func text<Root>(of shown: Setting<Root>.Shown) -> String {
        if case .scalar(let text) = shown { return text }
        return String(line("", shown).dropFirst(2))
    }

    /// Two spaces for each level.
    private static func indent(_ depth: Int) -> String { String(repeating: "  ", count: depth) }

    /// The text as a plain scalar if YAML reads it as the same text, otherwise in double quotes.
    private static func scalar(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text != "null" && text != "~"
            && text.utf8.allSatisfy { byte in
                NetworkText.isHostName(String(UnicodeScalar(byte))) || "/:+".utf8.contains(byte)
            } && !text.hasSuffix(":") && !text.hasPrefix("-") && !text.hasPrefix(":")
        guard !isPlain else { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                quoted += "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16, uppercase: true)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
