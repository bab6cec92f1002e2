/// One element of what was written for a key: its text, and its name where the value is a mapping.
struct SettingEntry: Sendable, Equatable {
    var name: String?
    let text: String
}

/// One key: how what is written becomes part of a `Root`, and how that part is shown again.
struct Setting<Root>: Sendable {
    /// What may be written for the key.
    enum Shape: Sendable {
        case scalar
        case list
        case scalarOrList
        case pairs
    }

    /// A value as it is shown.
    enum Shown: Sendable, Equatable {
        case scalar(String)
        case list([String])
        case pairs([SettingEntry])
    }

    /// The key, with dots between its parts.
    let key: String
    let shape: Shape
    let set: @Sendable (inout Root, [SettingEntry]) throws(Complaint) -> Void
    /// Nil for what has no value of its own.
    let show: @Sendable (Root) -> Shown?
}

extension Setting {
    typealias Path<Value> = any WritableKeyPath<Root, Value> & Sendable

    /// One value that is always there.
    static func one<Value: Sendable>(
        _ key: String, _ path: Path<Value>, _ format: ValueFormat<Value>
    ) -> Self {
        Self(
            key: key, shape: .scalar,
            set: { root, entries throws(Complaint) in
                root[keyPath: path] = try format.value(of: entries.first?.text ?? "")
            }, show: { .scalar(format.write($0[keyPath: path])) })
    }

    /// One value that may be missing, which a word of its own can say.
    static func maybe<Value: Sendable>(
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
            })
    }

    /// Any number of values; with `orOne`, a single one need not be written as a list.
    static func list<Value: Sendable>(
        _ key: String, _ path: Path<[Value]>, _ format: ValueFormat<Value>,
        orOne: Bool = false
    ) -> Self {
        Self(
            key: key, shape: orOne ? .scalarOrList : .list,
            set: { root, entries throws(Complaint) in root[keyPath: path] = try format.values(of: entries) },
            show: { .list($0[keyPath: path].map(format.write)) })
    }

    /// A list that may be missing, which is not the same as an empty one.
    static func maybeList<Value: Sendable>(
        _ key: String, _ path: Path<[Value]?>, _ format: ValueFormat<Value>
    ) -> Self {
        Self(
            key: key, shape: .list,
            set: { root, entries throws(Complaint) in
                guard !entries.isEmpty else { throw Complaint("expected at least one; leave the key out for any") }
                root[keyPath: path] = try format.values(of: entries)
            }, show: { root in root[keyPath: path].map { .list($0.map(format.write)) } })
    }
}

extension ValueFormat {
    /// The same format, telling of a word that stands for no value.
    fileprivate func mentioning(_ word: String) -> Self {
        Self(expects: "\(expects), or '\(word)'", read: read, write: write, isSecret: isSecret)
    }

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
