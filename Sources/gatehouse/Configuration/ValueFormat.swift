/// The format of a value in a file, a variable or a flag: how it is parsed and written.
struct ValueFormat<Value: Sendable>: Sendable {
    /// A description that completes the sentence "expected …".
    let expects: String
    /// Parses a text; nil if it is not valid.
    let read: @Sendable (String) -> Value?
    /// Writes the value, without secrets.
    let write: @Sendable (Value) -> String
    /// Whether the text may contain a secret, so that messages do not quote it.
    var isSecret = false

    /// Parses a text, or throws what was expected.
    func value(of text: String) throws(Complaint) -> Value {
        if let value = read(text) { return value }
        guard !isSecret else { throw Complaint("expected \(expects)") }
        throw Complaint("expected \(expects), found \(FoundText.quoted(text))")
    }
}

extension ValueFormat where Value == String {
    /// Any text that is not empty and has no NUL.
    static func text(_ expects: String) -> Self {
        Self(expects: expects, read: { $0.isEmpty || $0.utf8.contains(0) ? nil : $0 }, write: { $0 })
    }

    /// One of a list of names.
    static func name(_ expects: String, of names: [String]) -> Self {
        Self(
            expects: "\(expects) (\(names.joined(separator: ", ")))",
            read: { text in names.first { $0.utf8.elementsEqual(text.utf8) } }, write: { $0 })
    }
}

extension ValueFormat where Value == Bool {
    /// `true` or `false`, or one of their synonyms in YAML 1.1.
    static var flag: Self {
        Self(
            expects: "true or false",
            read: { text in
                switch text {
                case "true", "yes", "on": true
                case "false", "no", "off": false
                default: nil
                }
            }, write: { String($0) })
    }
}

extension ValueFormat where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    /// One of the raw values of an enumeration.
    static var word: Self {
        Self(
            expects: Value.allCases.map(\.rawValue).joined(separator: " or "),
            read: { Value(rawValue: $0) }, write: { $0.rawValue })
    }
}

extension ValueFormat where Value == Int {
    /// A whole number within a range.
    static func integer(_ range: ClosedRange<Int>) -> Self {
        Self(
            expects: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            read: { text in Int(text).flatMap { range.contains($0) ? $0 : nil } }, write: { String($0) })
    }

    /// A number of bytes: `512`, `64KiB`, `1MiB`, `2GiB`.
    static func size(_ range: ClosedRange<Int>) -> Self {
        Self(
            expects: "a size such as 64KiB or 1MiB, from \(Quantity.size(range.lowerBound))"
                + " to \(Quantity.size(range.upperBound))",
            read: { text in Quantity.bytes(text).flatMap { range.contains($0) ? $0 : nil } },
            write: { Quantity.size($0) })
    }
}

extension ValueFormat where Value == Int64 {
    /// A duration in milliseconds: `500ms`, `30s`, `15m`, `24h`, `30d`.
    static func duration(_ range: ClosedRange<Int64>) -> Self {
        Self(
            expects: "a duration such as 500ms, 30s, 15m, 24h or 30d, from \(Quantity.duration(range.lowerBound))"
                + " to \(Quantity.duration(range.upperBound))",
            read: { text in Quantity.milliseconds(text).flatMap { range.contains($0) ? $0 : nil } },
            write: { Quantity.duration($0) })
    }
}

extension ValueFormat where Value == Double {
    /// A number with or without a decimal point within a range.
    static func fraction(_ range: ClosedRange<Double>) -> Self {
        Self(
            expects: "a number from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))",
            read: { text in
                // `Double` also reads words and hexadecimal digits.
                guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }) else {
                    return nil
                }
                return Double(text).flatMap { range.contains($0) ? $0 : nil }
            }, write: { Self.text($0) })
    }

    /// The number, without a fraction where it has none.
    private static func text(_ value: Double) -> String { Int(exactly: value).map(String.init) ?? "\(value)" }
}
