/// The spelling of the text format of Prometheus, version 0.0.4.
enum TextFormat {
    /// A name of letters, digits, `_` and `:` that does not begin with a digit; every other character becomes `_`.
    static func name(_ text: String) -> String { spelled(text, isAlsoAllowed: UInt8(ascii: ":")) }

    /// The dimensions as `name="value"`, in the order given.
    static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.map { name, value in
            "\(spelled(name, isAlsoAllowed: nil))=\"\(escaped(value, quotes: true))\""
        }.joined(separator: ",")
    }

    /// A line of help on one line.
    static func help(_ text: String) -> String { escaped(text, quotes: false) }

    /// A number without a decimal point where it is whole.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }

    /// Appends the line of one sample.
    static func sample(_ name: String, _ labels: String, _ value: String, to text: inout String) {
        text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
    }

    private static func spelled(_ text: String, isAlsoAllowed extra: UInt8?) -> String {
        var bytes = text.utf8.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                byte
            default: byte == extra ? byte : UInt8(ascii: "_")
            }
        }
        if bytes.first.map({ (0x30...0x39).contains($0) }) ?? true { bytes.insert(UInt8(ascii: "_"), at: 0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var out = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\"" where quotes: out += "\\\""
            default: out.unicodeScalars.append(character)
            }
        }
        return out
    }
}
