/// Makes untrusted text safe to print on a terminal.
public enum TerminalText {
    /// Escapes as `\u{…}` the characters that a terminal would interpret or not show: control characters (and with them
    /// ANSI sequences), characters that change the direction of text, and invisible or unassigned characters.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - keepingLines: whether line feeds stay as they are.
    public static func escaped(_ text: String, keepingLines: Bool = false) -> String {
        var out = ""
        out.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            if isPlain(scalar) || (keepingLines && scalar == "\n") {
                out.unicodeScalars.append(scalar)
            } else {
                out += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            }
        }
        return out
    }

    /// The same for bytes that need not be UTF-8. Invalid sequences become the replacement character.
    public static func escaped(bytes: [UInt8], keepingLines: Bool = false) -> String {
        escaped(String(decoding: bytes, as: UTF8.self), keepingLines: keepingLines)
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x80 { return scalar.value >= 0x20 && scalar.value != 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
