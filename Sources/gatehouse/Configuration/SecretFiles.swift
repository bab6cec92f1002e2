/// Reads the values of an entry's keys that stand in files.
///
/// Every key whose value may hold a secret has a second form, `KEY_file`, which names a file with the value: for a
/// mapping such as `headers`, one file for each member. A key of `GatewaySettings` has it as a key of its own.
struct SecretFiles {
    /// What stands behind the name of a key whose value is in a file.
    private static let suffix = "_file"

    /// Reads a file; nil if it does not exist.
    let contents: RouteReader.Files
    /// The files that were read.
    private(set) var found: [SecretFile] = []

    /// - Parameter contents: reads a file; nil if it does not exist.
    init(contents: @escaping RouteReader.Files) {
        self.contents = contents
    }

    /// The names of the forms for files that the keys of an entry have by this.
    static func names<Root>(for settings: [Setting<Root>]) -> Set<String> {
        Set(secrets(in: settings).map { $0.key + suffix })
    }

    /// The keys that may hold a secret, but for those that have a form for files in the list itself.
    private static func secrets<Root>(in settings: [Setting<Root>]) -> [Setting<Root>] {
        settings.filter { setting in setting.isSecret && !settings.contains { $0.key == setting.key + suffix } }
    }

    /// Sets the values of an entry that are given in files.
    ///
    /// - Parameters:
    ///   - element: the entry in the configuration.
    ///   - label: the name of the entry in faults, such as `events[0]`.
    mutating func fill<Root>(
        _ root: inout Root, from element: FileValue, label: String, settings: [Setting<Root>],
        faults: inout [ConfigurationFault]
    ) {
        for setting in Self.secrets(in: settings) {
            guard let value = element.value(of: setting.key + Self.suffix) else { continue }
            let name = "\(label).\(setting.key)"
            if setting.shape == .pairs {
                setMembers(of: setting, value, beside: element.value(of: setting.key), name: name, &root, &faults)
            } else {
                setValue(of: setting, value, beside: element.value(of: setting.key), name: name, &root, &faults)
            }
        }
    }

    /// Sets one value from its file.
    private mutating func setValue<Root>(
        of setting: Setting<Root>, _ value: FileValue, beside other: FileValue?, name: String, _ root: inout Root,
        _ faults: inout [ConfigurationFault]
    ) {
        let key = name + Self.suffix
        if let other {
            let message = "is given beside '\(setting.key)' at \(other.place): give one of the two"
            faults.append(.init(place: value.place, key: key, message: message))
            return
        }
        let file = SecretFile(key: key, valueKey: name, path: value.text ?? "", place: value.place)
        guard let text = read(file, &faults) else { return }
        do throws(Complaint) {
            try setting.set(&root, [SettingEntry(text: text)])
        } catch {
            faults.append(.init(place: file.place, key: key, message: "\(file.shownPath): \(error.message)"))
        }
    }

    /// Adds the members of a mapping that are given in files to those that are given beside them.
    private mutating func setMembers<Root>(
        of setting: Setting<Root>, _ value: FileValue, beside other: FileValue?, name: String, _ root: inout Root,
        _ faults: inout [ConfigurationFault]
    ) {
        let key = name + Self.suffix
        if value.isEmpty { return }
        guard let mapping = value.mapping else {
            faults.append(.init(place: value.place, key: key, message: "expected a mapping, such as {Name: PATH}"))
            return
        }
        var known = (other?.mapping ?? []).map { (name: $0.key.text ?? "", place: $0.value.place) }
        var entries = (other?.mapping ?? []).map { SettingEntry(name: $0.key.text ?? "", text: $0.value.text ?? "") }
        let given = entries.count
        var places: [String] = []
        for (member, path) in mapping {
            let memberName = member.text ?? ""
            if let twin = known.first(where: { $0.name.lowercased() == memberName.lowercased() }) {
                let message = "'\(FoundText.name(memberName))' is given at \(twin.place), too: give one of the two"
                faults.append(.init(place: path.place, key: key, message: message))
                continue
            }
            known.append((name: memberName, place: path.place))
            let file = SecretFile(
                key: "\(key).\(FoundText.name(memberName))", valueKey: name, path: path.text ?? "", place: path.place,
                member: memberName)
            guard let text = read(file, &faults) else { continue }
            entries.append(SettingEntry(name: memberName, text: text))
            places.append(path.place)
        }
        do throws(Complaint) {
            try setting.set(&root, entries)
        } catch {
            // What is wrong with the members that are given beside the files is a fault already.
            guard let index = error.index, places.indices.contains(index - given) else { return }
            faults.append(.init(place: places[index - given], key: key, message: error.message))
        }
    }

    /// The value in a file; nil if it can't be read, which then is a fault.
    private mutating func read(_ file: SecretFile, _ faults: inout [ConfigurationFault]) -> String? {
        guard !file.path.isEmpty, !file.path.utf8.contains(0) else {
            faults.append(.init(place: file.place, key: file.key, message: "expected the path of a file"))
            return nil
        }
        do throws(ConfigurationFault) {
            let value = try file.read(contents)
            found.append(file)
            return value
        } catch {
            faults.append(error)
            return nil
        }
    }
}
