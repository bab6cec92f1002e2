import Encodings
import JOSE

/// JSON that is safe on a terminal and means the same: what a terminal might obey is written as `\u` escapes.
enum TerminalJSON {
    static func text(_ value: JSONValue) -> String {
        var text = ""
        for scalar in value.serialized().unicodeScalars {
            let character = String(scalar)
            // Serialized JSON holds such characters only within strings, where an escape may stand for them.
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
