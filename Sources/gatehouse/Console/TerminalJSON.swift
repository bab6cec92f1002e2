import Encodings
import JOSE

/// JSON that is safe to print on a terminal: characters that a terminal might interpret are written as `\u` escapes,
/// which have the same meaning.
enum TerminalJSON {
    /// The value as JSON in which everything that a terminal could obey is escaped.
    static func text(_ value: JSONValue) -> String {
        var text = ""
        for scalar in value.serialized().unicodeScalars {
            let character = String(scalar)
            // Serialised JSON has such characters only in strings, where they can be escaped.
            if TerminalText.escaped(character) == character {
                text.unicodeScalars.append(scalar)
            } else {
                for unit in character.utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        return text
    }
}
