/// One element of the value of a key: its text, and its name if the value is a mapping.
struct SettingEntry: Sendable, Equatable {
    /// The member's name, of a mapping; the key's, in a list of mappings; nil for the elements of a plain list and for
    /// a scalar.
    var name: String?
    /// As it is written, without quotes.
    let text: String
    /// The number of the record that it belongs to, where the value is a list of mappings.
    var record: Int?
}

/// A name and the texts that belong to it.
struct NamedTexts: Sendable, Equatable {
    let name: String
    let texts: [String]
}

/// One key: how its value is stored in a `Root`, and how it is shown.
struct Setting<Root>: Sendable {
    /// The shape of the value in the file.
    enum Shape: Sendable {
        /// One text.
        case scalar
        /// Any number of texts, perhaps none.
        case list
        /// A list for which a single text may stand.
        case scalarOrList
        /// A mapping of names to one text each.
        case pairs
        /// A mapping of names to lists. Each element is an entry of that name.
        case lists
        /// A list of mappings. Each value in them is an entry with the name of its key; a list is one entry each.
        case records
    }

    /// A value in the form in which it is shown.
    enum Shown: Sendable, Equatable {
        /// One text, `key: text`.
        case scalar(String)
        /// A list in one line, `key: [a, b]`.
        case list([String])
        /// A mapping, an entry a line.
        case pairs([SettingEntry])
        /// A mapping, whose values are lists in one line.
        case lists([NamedTexts])
        /// Each record's keys in order; a key with one text is shown as a scalar unless it is a list.
        case records([[NamedTexts]], lists: Set<String>)
    }

    /// The key, with its parts joined by dots.
    let key: String
    /// Which values of the file are read. A variable or a flag has commas in place of a list.
    let shape: Shape
    /// Replaces the value. One that is refused changes nothing; the complaint may say which entry is wrong.
    let set: @Sendable (inout Root, [SettingEntry]) throws(Complaint) -> Void
    /// Returns the value to show; nil if the key is not set.
    let show: @Sendable (Root) -> Shown?
    /// Takes the value of a running gateway over into the next configuration, and returns whether they differed. Nil
    /// for keys of entries, which are replaced as a whole.
    var keep: (@Sendable (_ running: Root, _ next: inout Root) -> Bool)?
    /// Whether the value may hold a secret, so that it is not shown, and has a form in which a file holds it.
    var isSecret = false
    /// Whether an empty list lifts a restriction, so that it has to be written as `[]`: a key without a value, or a
    /// variable that is empty, is a fault.
    var isOpenWhenEmpty = false
}

extension Setting {
    /// Where the value is in the configuration.
    typealias Path<Value> = any WritableKeyPath<Root, Value> & Sendable

    /// Takes the running value over into the next configuration, and returns whether they differed.
    private static func keeping<Value: Sendable & Equatable>(
        _ path: Path<Value>
    ) -> @Sendable (Root, inout Root) -> Bool {
        { running, next in
            let hasChanged = running[keyPath: path] != next[keyPath: path]
            next[keyPath: path] = running[keyPath: path]
            return hasChanged
        }
    }

    /// A key with one value that always has a default.
    static func one<Value: Sendable & Equatable>(
        _ key: String, _ path: Path<Value>, _ format: ValueFormat<Value>
    ) -> Self {
        Self(
            key: key, shape: .scalar,
            set: { root, entries throws(Complaint) in
                root[keyPath: path] = try format.value(of: entries.first?.text ?? "")
            }, show: { .scalar(format.write($0[keyPath: path])) },
            keep: keeping(path), isSecret: format.isSecret)
    }

    /// A key with one value that may be missing. `word` is the text that stands for no value.
    static func maybe<Value: Sendable & Equatable>(
        _ key: String, _ path: Path<Value?>, _ format: ValueFormat<Value>,
        missing word: String? = nil
    ) -> Self {
        let format = word.map { format.mentioning($0) } ?? format
        return Self(
            key: key, shape: .scalar,
            set: { root, entries throws(Complaint) in
                let text = entries.first?.text ?? ""
                if let word, text.utf8.elementsEqual(word.utf8) {
                    root[keyPath: path] = nil
                } else {
                    root[keyPath: path] = try format.value(of: text)
                }
            },
            show: { root in
                if let value = root[keyPath: path] { return .scalar(format.write(value)) }
                return word.map { .scalar($0) }
            },
            keep: keeping(path), isSecret: format.isSecret)
    }

    /// A key with a list of values. With `orOne`, a single value need not be written as a list.
    static func list<Value: Sendable & Equatable>(
        _ key: String, _ path: Path<[Value]>, _ format: ValueFormat<Value>,
        orOne: Bool = false, isOpenWhenEmpty: Bool = false
    ) -> Self {
        Self(
            key: key, shape: orOne ? .scalarOrList : .list,
            set: { root, entries throws(Complaint) in root[keyPath: path] = try format.values(of: entries) },
            show: { .list($0[keyPath: path].map(format.write)) },
            keep: keeping(path), isSecret: format.isSecret, isOpenWhenEmpty: isOpenWhenEmpty)
    }

    /// A key with at least one value, or left out.
    ///
    /// - Parameters:
    ///   - orOne: whether a single value need not be written as a list.
    ///   - absence: what leaving the key out stands for; nil for a key that is required.
    static func oneOrMore<Value: Sendable & Equatable>(
        _ key: String, _ path: Path<[Value]>, _ format: ValueFormat<Value>, orOne: Bool = true,
        leftOut absence: String? = "none"
    ) -> Self {
        Self(
            key: key, shape: orOne ? .scalarOrList : .list,
            set: { root, entries throws(Complaint) in
                guard !entries.isEmpty else { throw Complaint.emptyList(leftOut: absence) }
                root[keyPath: path] = try format.values(of: entries)
            },
            show: { root in
                let values = root[keyPath: path]
                return values.isEmpty ? nil : .list(values.map(format.write))
            },
            keep: keeping(path), isSecret: format.isSecret)
    }

    /// A key with a list that may be missing, which is different from an empty list.
    static func maybeList<Value: Sendable & Equatable>(
        _ key: String, _ path: Path<[Value]?>, _ format: ValueFormat<Value>
    ) -> Self {
        Self(
            key: key, shape: .list,
            set: { root, entries throws(Complaint) in
                guard !entries.isEmpty else { throw Complaint.emptyList(leftOut: "any") }
                root[keyPath: path] = try format.values(of: entries)
            }, show: { root in root[keyPath: path].map { .list($0.map(format.write)) } },
            keep: keeping(path), isSecret: format.isSecret)
    }

    /// A key with a list that may be missing and may be empty.
    static func optionalList<Value: Sendable>(
        _ key: String, _ path: Path<[Value]?>, _ format: ValueFormat<Value>
    ) -> Self {
        Self(
            key: key, shape: .list,
            set: { root, entries throws(Complaint) in root[keyPath: path] = try format.values(of: entries) },
            show: { root in root[keyPath: path].map { .list($0.map(format.write)) } }, isSecret: format.isSecret)
    }
}

extension ValueFormat {
    /// The same format, with a hint that `word` stands for no value.
    fileprivate func mentioning(_ word: String) -> Self {
        Self(expects: "\(expects), or '\(word)'", read: read, write: write, isSecret: isSecret)
    }

    /// The values of a list. An error names the element.
    fileprivate func values(of entries: [SettingEntry]) throws(Complaint) -> [Value] {
        var values: [Value] = []
        for (index, entry) in entries.enumerated() {
            do {
                values.append(try value(of: entry.text))
            } catch {
                throw Complaint(error.message, index: index)
            }
        }
        return values
    }
}

extension Setting where Root: Equatable {
    /// Whether the one value of the key is shown without a part of it, or not at all. False for keys of several values.
    func hidesValue(of root: Root) -> Bool {
        guard case .scalar(let shown)? = show(root) else { return false }
        var copy = root
        do {
            try set(&copy, [SettingEntry(text: shown)])
        } catch {
            return true
        }
        return copy != root
    }
}
