import Encodings

/// Writes JSON texts that a correct serialiser would not.
enum RawJSON {
    /// The text of an object, with members replaced by raw text, or removed for nil. New members come last.
    static func text(of object: JSONObject, _ changes: [(name: String, raw: String?)]) -> String {
        var members: [String] = []
        for (name, value) in object.members {
            if let change = changes.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
                if let raw = change.raw { members.append(member(name, raw)) }
            } else {
                members.append(member(name, value.serialized()))
            }
        }
        for (name, raw) in changes where object[name] == nil {
            if let raw { members.append(member(name, raw)) }
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// One member, with its value as raw text.
    static func member(_ name: String, _ raw: String) -> String {
        quoted(name) + ":" + raw
    }

    /// A JSON string.
    static func quoted(_ text: String) -> String {
        JSONValue.string(text).serialized()
    }

    /// A name of ASCII letters whose first letter is escaped, without quotes.
    static func escapedFirst(_ name: String) -> String {
        guard let first = name.utf8.first else { return name }
        return "\\u00" + String(first, radix: 16) + name.dropFirst()
    }

    /// The object's text with a raw member before all others.
    static func prepending(_ member: String, to object: String) -> String {
        "{" + member + (object == "{}" ? "" : ",") + object.dropFirst()
    }

    /// The object's text with a raw member after all others.
    static func appending(_ member: String, to object: String) -> String {
        object.dropLast() + (object == "{}" ? "" : ",") + member + "}"
    }
}
