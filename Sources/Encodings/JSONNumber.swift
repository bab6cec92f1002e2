/// A JSON number, kept in the notation of the text so that no digit is lost.
public struct JSONNumber: Sendable, Equatable {
    /// The number as it was written.
    public let text: String

    /// A number from bytes that the parser has checked.
    init(ascii bytes: UnsafeBufferPointer<UInt8>) {
        text = String(knownASCII: bytes)
    }

    /// An integer.
    public init(_ value: Int64) {
        text = String(value)
    }

    /// A double; nil if it is not finite, which JSON cannot express.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = value.description
    }

    /// The value, if it is mathematically an integer in the range of `Int64`: `100`, `1E+2` and `1.0` are, `1.5` is
    /// not.
    public var int64: Int64? {
        Self.plainInteger(text) ?? Self.integer(text.utf8)
    }

    /// The nearest floating-point value, if it is finite.
    public var double: Double? {
        if let plain = Self.plainInteger(text) { return Double(plain) }
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// Equality of the notation: `1.0` is not equal to `1`.
    public static func == (left: Self, right: Self) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    /// The nearest double to a number in bytes that the parser has checked, if it is finite.
    static func double(ascii bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        if let plain = plainInteger(ascii: bytes) { return Double(plain) }
        return JSONNumber(ascii: bytes).double
    }

    private static func plainInteger(_ text: String) -> Int64? {
        var text = text
        return text.withUTF8 { plainInteger(ascii: $0) }
    }

    /// The value of one to fifteen digits without sign, fraction or exponent, the common form of dates and counters;
    /// nil for all other numbers.
    private static func plainInteger(ascii bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard bytes.count <= 15 else { return nil }
        var value: Int64 = 0
        for byte in bytes {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            value = value &* 10 &+ Int64(byte &- UInt8(ascii: "0"))
        }
        return value
    }

    /// The integer that a number in any notation has as its value. It works on the digits, so that nothing is rounded.
    private static func integer(_ text: String.UTF8View) -> Int64? {
        var rest = text[...]
        let negative = rest.first == UInt8(ascii: "-")
        if negative { rest = rest.dropFirst() }
        let mantissa = rest.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }
        var exponentText = rest.dropFirst(mantissa.count).dropFirst()
        if exponentText.first == UInt8(ascii: "+") { exponentText = exponentText.dropFirst() }

        let whole = mantissa.prefix { $0 != UInt8(ascii: ".") }
        let fraction = mantissa.dropFirst(whole.count).dropFirst()
        var digits = Array(whole.drop { $0 == UInt8(ascii: "0") }) + Array(fraction)
        digits = Array(digits.drop { $0 == UInt8(ascii: "0") })
        guard !digits.isEmpty else { return 0 }

        var exponent = 0
        if !exponentText.isEmpty {
            // Not `abs`, which traps for the least integer.
            guard let written = Int(String(decoding: exponentText, as: UTF8.self)), written.magnitude < 1_000_000 else {
                return nil
            }
            exponent = written
        }
        exponent -= fraction.count
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        guard exponent >= 0, digits.count + exponent <= 19 else { return nil }
        digits.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: exponent))
        return Int64((negative ? "-" : "") + String(decoding: digits, as: UTF8.self))
    }
}
