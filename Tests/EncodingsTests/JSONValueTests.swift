import Encodings
import Testing

@Suite struct JSONValueTests {
    @Test(
        "A number is an integer exactly when it is one mathematically",
        arguments: [
            ("0", 0), ("-0", 0), ("1", 1), ("1.0", 1), ("1E+2", 100), ("120e-1", 12), ("0.5e1", 5), ("1.5", nil),
            ("1e-1", nil), ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min),
            ("9223372036854775808", nil), ("1e19", nil), ("0e99", 0), ("1e18", 1_000_000_000_000_000_000),
            ("1e-9223372036854775808", nil), ("0e-9223372036854775808", 0),
            ("9007199254740993", 9_007_199_254_740_993), ("-15", -15), ("1234567890123456", 1_234_567_890_123_456),
        ] as [(String, Int64?)])
    func integers(text: String, value: Int64?) throws {
        #expect(try StrictJSON.parse(text).int64Value == value)
    }

    @Test(
        "Fractions are read", arguments: [("1.5", 1.5), ("1e2", 100), ("-0.25", -0.25), ("1700000000", 1_700_000_000)])
    func fractions(text: String, value: Double) throws {
        #expect(try StrictJSON.parse(text).doubleValue == value)
    }

    @Test("Serialised text parses to the same value, control characters included")
    func serialising() throws {
        let value: JSONValue = ["a\u{1}\"\\": ["\n\r\t\u{7F}é", 1.5, -3, true, .null], "b": [:]]
        let text = value.serialized()
        #expect(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
        #expect(try StrictJSON.parse(text) == value)
    }

    @Test("Members keep their order, and setting nil removes")
    func members() {
        var object: JSONObject = ["b": 1, "a": 2, "b": 3]
        #expect(object.serialized() == #"{"b":3,"a":2}"#)
        object["c"] = "x"
        object["b"] = nil
        #expect(object.names == ["a", "c"])
        #expect(object == ["c": "x", "a": 2])
        #expect(object != ["c": "x", "a": 3])
        #expect(object != ["c": "x"])
    }

    @Test("Infinity does not become a number")
    func infinity() {
        #expect(JSONNumber(Double.infinity) == nil)
        #expect(JSONValue(floatLiteral: .nan) == .null)
    }

    @Test(
        "Strings are the same only if their bytes are",
        arguments: [
            ("a", "a", true), ("é", "e\u{301}", false), ("\u{212B}", "A\u{30A}", false), ("K", "\u{212A}", false),
            (String(repeating: "é", count: 40), String(repeating: "é", count: 40), true),
        ])
    func sameBytes(left: String, right: String, same: Bool) {
        #expect(left.hasSameBytes(as: right) == same)
        #expect((ByteName(left) == ByteName(right)) == same)
    }
}
