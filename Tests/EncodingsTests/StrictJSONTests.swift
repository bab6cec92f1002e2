import Encodings
import Testing

@Suite struct StrictJSONTests {
    @Test(
        "Valid texts are read and written back",
        arguments: [
            "null", "true", "false", "0", "-0", "1E+2", "1e2", "1.5", "-1.5e-3", "\"\"", "[]", "{}", "[1,[2,[3]]]",
            #"{"a":1,"b":{"c":[true,null]}}"#, "\"é\u{1F600}\"", "9007199254740993",
        ])
    func valid(text: String) throws {
        #expect(try StrictJSON.parse(text).serialized() == text)
        #expect(try StrictJSON.parse(" \n\t\r" + text + " \n\t\r").serialized() == text)
    }

    @Test(
        "Texts that are not JSON are refused",
        arguments: [
            "", " ", "01", "-", "-01", "+1", ".5", "1.", "1e", "1e+", "0x10", "NaN", "Infinity", "-Infinity", "nul",
            "tru", "True", "'a'", "[1,]", "[,1]", "[1 2]", "{\"a\":1,}", "{a:1}", "{\"a\" 1}", "{\"a\":}", "[", "{",
            "]", "\"", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"", "\"\t\"", "\"\u{0}\"", "// c\n1", "/* c */ 1",
            "{\"a\":1", "[1", "\u{FEFF}1", "1_000", "1,2",
        ])
    func malformed(text: String) {
        #expect(throws: JSONError.self) { try StrictJSON.parse(text) }
    }

    @Test(
        "Each fault has its code",
        arguments: [
            ("1 2", JSONError.Code.trailingBytes), ("{}{}", .trailingBytes), ("1e400", .numberOutOfRange),
            ("-1e309", .numberOutOfRange), ("\"\\ud800\"", .loneSurrogate), ("\"\\udc00\"", .loneSurrogate),
            ("\"\\ud800\\u0041\"", .loneSurrogate), ("\"\\ud800x\"", .loneSurrogate),
            (#"{"a":1,"a":2}"#, .duplicateName), (#"{"exp":1,"\u0065xp":2}"#, .duplicateName),
            (#"{"x":{"a":1,"\u0061":1}}"#, .duplicateName),
        ])
    func codes(text: String, code: JSONError.Code) {
        #expect(fault(Array(text.utf8)) == code)
    }

    @Test(
        "Bytes that are not UTF-8 are refused",
        arguments: [
            [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0x80], [0xE2, 0x82],
            [0xF0, 0x82, 0x82, 0xAC],
        ] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) {
        #expect(fault([0x22] + bytes + [0x22]) == .invalidUTF8)
        #expect(fault([0x22, 0x5C, 0x6E] + bytes + [0x22]) == .invalidUTF8)
        #expect(fault(Array(#"{""#.utf8) + bytes + Array(#"":1}"#.utf8)) == .invalidUTF8)
    }

    @Test("Known names, similar ones and escaped ones keep their bytes and are distinguished")
    func usualNames() throws {
        let names = [
            "alg", "kid", "iss", "sub", "aud", "exp", "client_id", "tenant_id", "scope", "auth_time", "nonce",
            "is", "isss", "iss ", "client_i", "client_ids", "client_ix", "Alg", "a", "", "x", "é", "fifteen_letters_",
        ]
        let text = "{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        #expect(try StrictJSON.object(text).names.map { Array($0.utf8) } == names.map { Array($0.utf8) })
        for name in names where !name.isEmpty {
            let escaped = name.utf16.map { "\\u" + String(UInt32($0) + 0x10000, radix: 16).dropFirst() }.joined()
            #expect(try StrictJSON.object("{\"\(escaped)\":0}").names == [name])
            for twice in ["{\"\(name)\":0,\"\(escaped)\":0}", "{\"\(escaped)\":0,\"x1\":2,\"\(name)\":0}"] {
                #expect(fault(Array(twice.utf8)) == .duplicateName, "\(name)")
            }
        }
    }

    @Test("Strings of every length are read to their end, with any bytes around it", arguments: 0...40)
    func stringEnds(count: Int) throws {
        let plain = String(repeating: "p", count: count)
        for tail in ["", "\\n", "é", "\u{1F600}", "\u{7F}"] {
            let value = try StrictJSON.parse("[\"\(plain)\(tail)\",\"\(tail)\(plain)\"]")
            let read = tail == "\\n" ? "\n" : tail
            #expect(value == [.string(plain + read), .string(read + plain)])
        }
        for byte in [UInt8](0..<0x20) + [0x80, 0xFF] {
            #expect(fault([0x22] + Array(plain.utf8) + [byte, 0x22]) != nil, "byte \(byte)")
            #expect(fault([0x22] + Array(plain.utf8) + [byte] + Array("ppppppppp\"".utf8)) != nil, "byte \(byte)")
        }
        #expect(fault(Array("\"\(plain)".utf8)) == .malformed)
    }

    @Test("Names that differ only by normalisation are two names")
    func normalisation() throws {
        let object = try StrictJSON.object(#"{"é":1,"e\u0301":2}"#)
        #expect(object.count == 2)
        #expect(object["é"] == 1)
        #expect(object["e\u{301}"] == 2)
        #expect(JSONValue.string("é") != JSONValue.string("e\u{301}"))
    }

    @Test("A duplicate among many names is found")
    func duplicateAmongMany() {
        let names = (0..<900).map { "\"n\($0)\":0" }.joined(separator: ",")
        #expect(fault(Array("{\(names)}".utf8)) == nil)
        #expect(fault(Array("{\(names),\"n0\":1}".utf8)) == .duplicateName)
        #expect(fault(Array("{\(names),\"n899\":1}".utf8)) == .duplicateName)
        #expect(fault(Array("[[{\(names)}]]".utf8)) == nil)
        #expect(fault(Array("[[{\(names),\"n17\":1}]]".utf8)) == .duplicateName)
    }

    @Test("Depth 16 is read, depth 17 and any more are refused", arguments: [("[", "]"), ("{\"a\":", "}")])
    func depth(open: String, close: String) {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)).utf8)
        }
        #expect(fault(nested(16)) == nil)
        for depth in [17, 33, 1000] { #expect(fault(nested(depth)) == .tooDeep) }
        let endless = Array(String(repeating: open, count: 100_000).utf8)
        #expect(fault(endless, JSONLimits(maxBytes: 10_000_000)) == .tooDeep)
    }

    @Test("Sizes are bounded")
    func sizes() {
        #expect(fault(Array(repeating: 0x20, count: 70_000)) == .tooLarge)
        let many = Array(("[" + String(repeating: "0,", count: 1000) + "0]").utf8)
        #expect(fault(many) == .tooManyMembers)
        let row = "[" + Array(repeating: "0", count: 900).joined(separator: ",") + "]"
        let rows = Array(("[" + Array(repeating: row, count: 12).joined(separator: ",") + "]").utf8)
        #expect(fault(rows) == .tooManyMembers)
        #expect(
            fault(Array(("\"" + String(repeating: "a", count: 30) + "\"").utf8), JSONLimits(maxStringBytes: 29))
                == .stringTooLong)
        #expect(
            fault(Array(("\"\\n" + String(repeating: "a", count: 30) + "\"").utf8), JSONLimits(maxStringBytes: 29))
                == .stringTooLong)
        #expect(fault(Array(String(repeating: "1", count: 500).utf8)) == .numberOutOfRange)
    }

    @Test("Escapes are decoded")
    func escapes() throws {
        let text = #""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\u0000""#
        #expect(try StrictJSON.parse(text) == .string("\"\\/\u{8}\u{C}\n\r\té\u{1F600}\u{0}"))
    }

    @Test("A value other than an object is refused", arguments: ["[]", "\"x\"", "null", "1"])
    func notAnObject(text: String) {
        #expect(throws: JSONError(.notAnObject, at: 0)) { try StrictJSON.object(text) }
    }

    private func fault(_ bytes: [UInt8], _ limits: JSONLimits = JSONLimits()) -> JSONError.Code? {
        do throws(JSONError) {
            _ = try StrictJSON.parse(bytes, limits: limits)
            return nil
        } catch {
            return error.code
        }
    }
}
