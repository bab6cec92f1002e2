/// Stores the values of one mapping of the file in a `Root`, and collects all faults.
struct SettingReader<Root> {
    /// The keys that the mapping may have. One with dots is below sections of it.
    let settings: [Setting<Root>]
    /// Keys of other sections. The message for a key in the wrong section says where it belongs.
    var elsewhere: [String] = []
    /// Further keys of the mapping, which something else reads.
    var others: Set<String> = []

    /// Told where a key was found.
    typealias Note = (_ root: inout Root, _ key: String, _ place: String) -> Void

    /// Reads `mapping`. `prefix` comes before its keys (`tokens.`), and `label` is its name in messages.
    func read(
        _ mapping: [(key: FileValue, value: FileValue)], prefix: String = "", label: String = "", into root: inout Root,
        faults: inout [ConfigurationFault], note: Note = { _, _, _ in }
    ) {
        for (key, value) in mapping {
            let name = prefix + (key.text ?? "")
            // A top-level `tokens.clock_skew:` is not accepted as the nested key, because both could be present and
            // contradict each other.
            let isDotted = key.text?.contains(".") != false
            if isDotted {
                faults.append(
                    .init(place: key.place, message: unknown(key.text ?? "", prefix: prefix, label: label)))
            } else if let setting = settings.first(where: { $0.key == name }) {
                apply(setting, value, label: label + name, to: &root, faults: &faults)
                note(&root, name, value.place)
            } else if others.contains(name) {
                continue
            } else if settings.contains(where: { $0.key.hasPrefix(name + ".") }) {
                descend(value, prefix: name + ".", label: label, into: &root, faults: &faults, note: note)
            } else {
                faults.append(
                    .init(place: key.place, message: unknown(key.text ?? "", prefix: prefix, label: label)))
            }
        }
    }

    /// Reads the keys below a section.
    private func descend(
        _ value: FileValue, prefix: String, label: String, into root: inout Root, faults: inout [ConfigurationFault],
        note: Note
    ) {
        if value.isEmpty { return }
        guard let mapping = value.mapping else {
            let key = label + prefix.dropLast()
            faults.append(.init(place: value.place, key: key, message: "expected keys below it, one a line"))
            return
        }
        read(mapping, prefix: prefix, label: label, into: &root, faults: &faults, note: note)
    }

    /// Sets one value, or adds a fault at the element that is wrong.
    private func apply(
        _ setting: Setting<Root>, _ value: FileValue, label: String, to root: inout Root,
        faults: inout [ConfigurationFault]
    ) {
        var places: [String] = []
        do throws(Complaint) {
            if setting.isOpenWhenEmpty, value.isEmpty {
                throw Complaint("has no value: write [] where no restriction is meant")
            }
            let entries = try entries(of: value, shape: setting.shape, places: &places)
            try setting.set(&root, entries)
        } catch {
            let index = error.index.flatMap { places.indices.contains($0) ? $0 : nil }
            faults.append(
                .init(
                    place: index.map { places[$0] } ?? value.place,
                    key: index.map { "\(label)[\($0)]" } ?? label, message: error.message))
        }
    }

    /// The elements of a value of the given shape. `places` receives the place of each.
    private func entries(
        of value: FileValue, shape: Setting<Root>.Shape, places: inout [String]
    ) throws(Complaint) -> [SettingEntry] {
        switch shape {
        case .scalar, .scalarOrList:
            if let text = value.text { return [SettingEntry(text: text)] }
            guard shape == .scalarOrList else { throw Complaint(value.isEmpty ? "has no value" : "expected one value") }
            return try elements(of: value, places: &places)
        case .list:
            return try elements(of: value, places: &places)
        case .pairs:
            return try pairs(of: value, places: &places)
        case .lists:
            return try lists(of: value, places: &places)
        case .records:
            return try records(of: value, places: &places)
        }
    }

    /// The members of a list of mappings, each with the number of its mapping.
    private func records(of value: FileValue, places: inout [String]) throws(Complaint) -> [SettingEntry] {
        if value.isEmpty { return [] }
        guard let list = value.list else { throw Complaint("expected a list: begin each entry with '- '") }
        var entries: [SettingEntry] = []
        for (index, element) in list.enumerated() {
            guard let mapping = element.mapping else { throw Complaint("expected keys and values in each entry") }
            let before = entries.count
            for (key, value) in mapping {
                guard let name = key.text else { throw Complaint("expected keys and values in each entry") }
                var within: [String] = []
                var texts = value.text.map { [SettingEntry(text: $0)] } ?? []
                if value.text == nil { texts = try elements(of: value, places: &within) }
                entries += texts.map { SettingEntry(name: name, text: $0.text, record: index) }
                places += within.isEmpty ? texts.map { _ in value.place } : within
            }
            guard entries.count > before else { throw Complaint("expected keys and values in each entry") }
        }
        return entries
    }

    /// The elements of a mapping of lists, each with the name of its list.
    private func lists(of value: FileValue, places: inout [String]) throws(Complaint) -> [SettingEntry] {
        if value.isEmpty { return [] }
        guard let mapping = value.mapping else { throw Complaint("expected a mapping, such as {name: [value]}") }
        var entries: [SettingEntry] = []
        for (key, value) in mapping {
            var within: [String] = []
            guard let name = key.text else { throw Complaint("expected a name and a list") }
            let texts = value.text.map { [SettingEntry(text: $0)] } ?? []
            let elements = texts.isEmpty ? try elements(of: value, places: &within) : texts
            guard !elements.isEmpty else { throw Complaint("expected a list of values for each name") }
            entries += elements.map { SettingEntry(name: name, text: $0.text) }
            places += within.isEmpty ? [value.place] : within
        }
        return entries
    }

    /// The elements of a list of scalars. `places` gets their places.
    private func elements(of value: FileValue, places: inout [String]) throws(Complaint) -> [SettingEntry] {
        if value.isEmpty { return [] }
        guard let list = value.list else { throw Complaint("expected a list, such as [a, b]") }
        places = list.map(\.place)
        var entries: [SettingEntry] = []
        for (index, element) in list.enumerated() {
            guard let text = element.text else { throw Complaint("expected one value", index: index) }
            entries.append(SettingEntry(text: text))
        }
        return entries
    }

    /// The members of a mapping of scalars. `places` gets their places.
    private func pairs(of value: FileValue, places: inout [String]) throws(Complaint) -> [SettingEntry] {
        if value.isEmpty { return [] }
        guard let mapping = value.mapping else { throw Complaint("expected a mapping, such as {Name: value}") }
        places = mapping.map(\.value.place)
        var entries: [SettingEntry] = []
        for (index, pair) in mapping.enumerated() {
            guard let name = pair.key.text, let text = pair.value.text else {
                throw Complaint("expected a name and a value", index: index)
            }
            entries.append(SettingEntry(name: name, text: text))
        }
        return entries
    }

    /// The message for an unknown key, with the most similar key: one of the same mapping, unless another section has a
    /// key of exactly this name.
    private func unknown(_ key: String, prefix: String, label: String) -> String {
        let message = "unknown key '\(label)\(prefix)\(FoundText.name(key))'"
        if prefix.isEmpty, settings.contains(where: { $0.key == key && key.contains(".") }) {
            let parts = key.split(separator: ".")
            return "\(message): write '\(parts.last ?? "")' below '\(parts.dropLast().joined(separator: "."))'"
        }
        let siblings = Set(
            (settings.map(\.key) + others).compactMap { key -> String? in
                guard key.hasPrefix(prefix) else { return nil }
                return key.dropFirst(prefix.count).split(separator: ".").first.map(String.init)
            })
        let candidates = siblings.sorted() + (prefix.isEmpty ? elsewhere : [])
        if !prefix.isEmpty, let home = settings.first(where: { $0.key.hasSuffix("." + key) }) {
            return "\(message): did you mean '\(home.key)'?"
        }
        guard let nearest = NearestKey.nearest(to: key, among: candidates) else { return message }
        return "\(message): did you mean '\(label)\(prefix)\(nearest)'?"
    }
}
