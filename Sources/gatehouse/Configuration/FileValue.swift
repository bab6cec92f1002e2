import Yams

/// One value of the file with its place.
struct FileValue {
    /// The name of the file, for messages.
    let file: String
    /// The parser's value, which knows its line and column.
    let node: Node

    /// `FILE:LINE:COLUMN`.
    var place: String { Self.place(node, in: file) }

    /// Whether the value is empty or null, as for a section in which all keys are commented out.
    var isEmpty: Bool {
        guard case .scalar(let scalar) = node, scalar.style == .plain else { return false }
        return ["", "~", "null"].contains(scalar.string)
    }

    /// The text of a scalar; nil for lists, mappings and empty values.
    var text: String? {
        guard case .scalar(let scalar) = node, !isEmpty else { return nil }
        return scalar.string
    }

    /// The elements of a list; nil for anything else.
    var list: [FileValue]? {
        guard case .sequence(let sequence) = node else { return nil }
        return sequence.map { FileValue(file: file, node: $0) }
    }

    /// The entries of a mapping in the order of the file, keys with their places; nil for anything else.
    var mapping: [(key: FileValue, value: FileValue)]? {
        guard case .mapping(let mapping) = node else { return nil }
        return mapping.map { (FileValue(file: file, node: $0.key), FileValue(file: file, node: $0.value)) }
    }

    /// The value of a key below this one, with dots that descend; nil if it is not there.
    func value(of key: String) -> FileValue? {
        var value = self
        for part in key.split(separator: ".") {
            guard let next = value.pair(of: part) else { return nil }
            value = next.value
        }
        return value
    }

    /// Whether there is a section with this name, and nothing below it.
    func hasEmptySection(_ name: String) -> Bool {
        guard let section = value(of: name) else { return false }
        return section.isEmpty || section.mapping?.isEmpty == true
    }

    /// Where that value is; if it is not there, where the nearest key above it is.
    func place(of key: String) -> String {
        var value = self
        var above: String = place
        for part in key.split(separator: ".") {
            guard let next = value.pair(of: part) else { return above }
            (value, above) = (next.value, next.key.place)
        }
        return value.place
    }

    /// The entry of a mapping with this key.
    private func pair(of key: Substring) -> (key: FileValue, value: FileValue)? {
        mapping?.first { $0.key.text.map { $0.utf8.elementsEqual(key.utf8) } ?? false }
    }

    /// File, line and column of a node.
    private static func place(_ node: Node, in file: String) -> String {
        guard let mark = node.mark else { return file }
        return "\(file):\(mark.line):\(mark.column)"
    }
}

extension FileValue {
    /// The largest file that is read, in bytes.
    static let maximumBytes = 1 << 20

    /// Parses a file; nil if it is empty.
    static func parse(_ bytes: [UInt8], file: String) throws(ConfigurationFault) -> FileValue? {
        guard bytes.count <= maximumBytes else {
            throw ConfigurationFault(place: file, message: "larger than 1MiB: is this the configuration?")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationFault(place: file, message: "not UTF-8: save it in that encoding")
        }
        do {
            return try Yams.compose(yaml: text).map { FileValue(file: file, node: $0) }
        } catch {
            throw fault(error, file: file)
        }
    }

    /// Translates an error of the YAML parser. The parser's own descriptions quote the file, which may contain
    /// passwords.
    private static func fault(_ error: any Error, file: String) -> ConfigurationFault {
        /// A fault of the file's syntax.
        func fault(_ mark: Mark, _ problem: String) -> ConfigurationFault {
            ConfigurationFault(place: "\(file):\(mark.line):\(mark.column)", message: problem)
        }
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return fault(mark, "not YAML: \(problem)")
        case .duplicatedKeysInMapping(let names, let context):
            let shown = names.map { "'\(FoundText.name($0))'" }.joined(separator: ", ")
            return fault(context.mark, "\(shown) more than once in the same mapping: keep one")
        case .reader(let problem, _, _, _):
            return ConfigurationFault(place: file, message: "not YAML: \(problem)")
        default:
            return ConfigurationFault(place: file, message: "not YAML")
        }
    }
}
