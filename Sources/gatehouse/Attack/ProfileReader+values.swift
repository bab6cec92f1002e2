import EdgeConfiguration

/// The forms of values, each with a fault that says which was expected.
extension ProfileReader {
    /// The members of a mapping; only these keys are known.
    static func members(
        _ value: FileValue, _ key: String, _ known: [String]
    ) throws(ConfigurationFault) -> [(key: String, value: FileValue)] {
        guard let mapping = value.mapping else {
            throw fault(value, key, "expected a mapping of \(known.joined(separator: ", "))")
        }
        var members: [(key: String, value: FileValue)] = []
        for (name, value) in mapping {
            let text = name.text ?? ""
            guard known.contains(where: { $0.utf8.elementsEqual(text.utf8) }) else {
                let nearest = NearestKey.nearest(to: text, among: known) ?? ""
                throw fault(name, key, "'\(FoundText.name(text))' is no key here: did you mean '\(nearest)'?")
            }
            members.append((text, value))
        }
        return members
    }

    /// The elements of a list, one at least.
    static func list(_ value: FileValue, _ key: String) throws(ConfigurationFault) -> [FileValue] {
        guard let list = value.list, !list.isEmpty else { throw fault(value, key, "expected a list, such as [a, b]") }
        return list
    }

    /// A scalar that is not empty.
    static func text(_ value: FileValue, _ key: String) throws(ConfigurationFault) -> String {
        guard let text = value.text, !text.isEmpty else { throw fault(value, key, "expected a text") }
        return text
    }

    /// A token (RFC 9110 section 5.6.2), such as the name of a field.
    static func name(
        _ value: FileValue, _ key: String, _ expected: String
    ) throws(ConfigurationFault) -> String {
        let text = try text(value, key)
        guard HTTPToken.matches(text) else { throw fault(value, key, expected) }
        return text
    }

    /// A text of printable ASCII.
    static func visible(_ value: FileValue, _ key: String) throws(ConfigurationFault) -> String {
        let text = try text(value, key)
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { throw fault(value, key, "expected ASCII") }
        return text
    }

    /// A path of visible ASCII, with or without a query.
    static func path(_ value: FileValue, _ key: String) throws(ConfigurationFault) -> String {
        let text = try text(value, key)
        guard text.hasPrefix("/"), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else {
            throw fault(value, key, "expected a path: it begins with a slash and holds visible ASCII only")
        }
        return text
    }

    /// A fault at the place of the value.
    static func fault(_ value: FileValue, _ key: String, _ message: String) -> ConfigurationFault {
        ConfigurationFault(place: value.place, key: key, message: message)
    }
}
