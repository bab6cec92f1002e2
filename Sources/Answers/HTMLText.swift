/// Text as a part of an HTML page.
package enum HTMLText {
    /// The text with the characters escaped that have a meaning in HTML, for elements and for quoted attributes.
    /// Nothing else is removed or changed, so it does not make text safe inside a script, a style or an unquoted
    /// attribute.
    package static func escaped(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "'": out += "&#39;"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
