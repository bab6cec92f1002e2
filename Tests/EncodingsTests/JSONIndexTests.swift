import Encodings
import RandomForTests
import Testing

/// Compares indexing an object with parsing it into values.
@Suite struct JSONIndexTests {
    /// Valid and invalid values, used alone, in objects and in arrays.
    private static let values: [String] = [
        "null", "true", "false", "0", "-0", "1E+2", "1e2", "1.5", "-1.5e-3", "\"\"", "[]", "{}", "[ ]", "{ }",
        "[1,[2,[3]]]", #"{"a":1,"b":{"c":[true,null]}}"#, "\"é\u{1F600}\"", "9007199254740993", "1800000000",
        #"["gatehouse"]"#, #"[ "a" , "\u0062" ]"#, #"["a",1]"#, #"[[],"a"]"#, #""https:\/\/gate.example""#,
        #""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\u0000""#, "\"a text of more than fifteen bytes\"",
        "01", "-", "-01", "+1", ".5", "1.", "1e", "1e+", "0x10", "NaN", "nul", "tru", "True", "'a'", "[1,]", "[,1]",
        "[1 2]", "{\"a\":1,}", "{a:1}", "{\"a\" 1}", "{\"a\":}", "[", "{", "]", "\"", "\"a", "\"\\x\"", "\"\\u12\"",
        "\"\\u12G4\"", "\"\t\"", "\"\u{0}\"", "// c\n1", "{\"a\":1", "[1", "\u{FEFF}1", "1,2", "1 2", "{}{}", "1e400",
        "-1e309", #""\ud800""#, #""\udc00""#, #""\ud800\u0041""#, #""\ud800x""#, #"{"a":1,"a":2}"#,
        #"{"exp":1,"\u0065xp":2}"#, #"{"\u0065xp":1,"exp":2}"#, #"{"x":{"a":1,"\u0061":1}}"#, #"{"é":1,"e\u0301":2}"#,
        String(repeating: "1", count: 129), "",
    ]

    private static let texts: [[UInt8]] = values.flatMap { texts(with: $0) }

    private static func texts(with value: String) -> [[UInt8]] {
        let texts: [String] = [
            value, " \n\t\r\(value) \n\t\r", "{\"a\":\(value)}", "{\"a\":\(value),\"\\u0062\":\(value)}",
            "[{\"a\":\(value)}]", #"{"iss":"https://gate.example","a":[\#(value),1],"b":{"c":\#(value)},"exp":1}"#,
        ]
        return texts.map { Array($0.utf8) }
    }

    private static let tight = JSONLimits(maxBytes: 90, maxDepth: 2, maxMembers: 2, maxValues: 6, maxStringBytes: 5)

    @Test("Every text is accepted by both or refused by both, with the same fault at the same byte")
    func sameVerdict() {
        for text in Self.texts {
            for limits in [JSONLimits(), Self.tight] {
                #expect(Self.difference(text, limits) == nil, "\(String(decoding: text, as: UTF8.self))")
            }
        }
    }

    @Test("Mutated texts are accepted by both or refused by both")
    func mutations() {
        var generator = SeededGenerator(seed: 7519)
        var accepted = 0
        for round in 0..<8_000 {
            var bytes = Self.texts[round % Self.texts.count]
            for _ in 0..<Int.random(in: 1...2, using: &generator) { Self.mutate(&bytes, &generator) }
            let limits = round % 3 == 0 ? Self.tight : JSONLimits()
            #expect(Self.difference(bytes, limits) == nil, "round \(round): \(bytes)")
            if (try? StrictJSON.object(bytes, limits: limits)) != nil { accepted += 1 }
        }
        // If all mutations were invalid, nothing would be tested about accepted texts.
        #expect(accepted > 100)
    }

    @Test("Each limit is reached at the same byte", arguments: 0...40)
    func limits(bound: Int) {
        let text = Array(
            #" {"a":[1,2,[3,"\u00e9\u00e9"]],"bcd":{"e":{"f":"ghijk","l":1e2}},"\u006d":"nopqrstuvw","x":[]} "#.utf8)
        let each = [
            JSONLimits(maxBytes: bound * 3), JSONLimits(maxDepth: bound), JSONLimits(maxMembers: bound),
            JSONLimits(maxValues: bound), JSONLimits(maxStringBytes: bound),
        ]
        for limits in each { #expect(Self.difference(text, limits) == nil, "\(limits)") }
    }

    @Test(
        "Bytes that are not UTF-8 are found in names and in values",
        arguments: [
            [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0x80], [0xE2, 0x82], [0xC3, 0xA9],
        ] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) {
        for plain in ["", "\\n", "seventeen letters"] {
            let string: [UInt8] = Array("\"\(plain)".utf8) + bytes + Array("\"".utf8)
            let value: [UInt8] = Array("{\"a\":".utf8) + string + Array("}".utf8)
            let name: [UInt8] = Array("{\"a\":{".utf8) + string + Array(":1}}".utf8)
            let element: [UInt8] = Array("{\"a\":[0,".utf8) + string + Array("]}".utf8)
            for text in [string, value, name, element] { #expect(Self.difference(text) == nil, "\(text)") }
        }
    }

    @Test("A duplicate name is found among few and many", arguments: [1, 2, 3, 8, 15, 16, 17, 18, 33, 150])
    func duplicates(count: Int) {
        let plain = (0..<count).map { "\"name\($0)\":0" }
        let escaped = (0..<count).map { "\"\\u006eame\($0)\":0" }
        let lists: [[String]] = [
            plain, escaped, Array(plain.dropLast()) + Array(escaped.suffix(1)),
            Array(escaped.prefix(1)) + Array(plain.dropFirst()),
        ]
        for names in lists {
            let good = names.joined(separator: ",")
            #expect(Self.fault("{\(good)}") == nil)
            #expect(Self.fault("{\"x\":[{\(good)},{\(good)}],\(good)}") == nil)
            for twice in [plain.first, plain.last, escaped.first, escaped.last].compactMap({ $0 }) {
                let object = "{\(good),\(twice)}"
                for text in [object, "{\"x\":\(object)}", "{\"x\":[{\(good)},\(object)]}"] {
                    #expect(Self.fault(text) == .duplicateName, "\(text)")
                    #expect(Self.difference(Array(text.utf8)) == nil, "\(text)")
                }
            }
        }
    }

    @Test("Bytes after the text are not read")
    func behind() throws {
        let text = Array(#"{"a":"b","c":[1]}"#.utf8)
        let index = try JSONIndex(reading: text + Array("}{\"".utf8), upTo: text.count, limits: JSONLimits())
        #expect(index.object == ["a": "b", "c": [1]])
        for end in 0..<text.count {
            #expect(throws: JSONError.self) { try JSONIndex(reading: text, upTo: end, limits: JSONLimits()) }
        }
    }

    @Test("Names and texts are compared as bytes")
    func bytes() throws {
        let text = Array(#"{"é":"\u00e9","\u0065\u0301":"e\u0301","\u0069ss":"x","a":["\u00e9","y"],"b":"y"}"#.utf8)
        let index = try JSONIndex(reading: text, upTo: text.count, limits: JSONLimits())
        #expect(index.place(of: "\u{E9}") == 0)
        #expect(index.place(of: "e\u{301}") == 1)
        #expect(index.place(of: "is") == nil)
        #expect(index.isString("\u{E9}", at: 0) && !index.isString("e\u{301}", at: 0))
        #expect(index.isString("e\u{301}", at: 1) && !index.isString("\u{E9}", at: 1))
        #expect(index.members[2].name.short == 0x69_73_73)
        #expect(index.holds("\u{E9}", at: 3) && index.holds("y", at: 3))
        #expect(!index.holds("e\u{301}", at: 3) && !index.holds("", at: 3) && !index.holds("y", at: 4))
    }

    // MARK: Comparing

    /// The difference between the results of the two; nil if they agree.
    private static func difference(_ bytes: [UInt8], _ limits: JSONLimits = JSONLimits()) -> String? {
        switch (built(bytes, limits), indexed(bytes, limits)) {
        case (.failure(let left), .failure(let right)): left == right ? nil : "\(left), but \(right)"
        case (.success(let object), .success(let index)): difference(object, index)
        case (.success, .failure(let error)): "only the index: \(error)"
        case (.failure(let error), .success): "only the object: \(error)"
        }
    }

    private static func difference(_ object: JSONObject, _ index: JSONIndex) -> String? {
        guard index.members.count == object.count, index.object == object else { return "another object" }
        for (place, (name, value)) in object.members.enumerated() {
            guard index.name(at: place).hasSameBytes(as: name), index.place(of: name) == place else {
                return "another name than \(name)"
            }
            guard index.value(at: place) == value, index.number(at: place) == value.doubleValue else {
                return "another value of \(name)"
            }
            let text = index.string(at: place).map { Array($0.utf8) }
            guard text == value.stringValue.map({ Array($0.utf8) }),
                index.isString(value.stringValue ?? "", at: place) == (value.stringValue != nil)
            else { return "another text of \(name)" }
            let letters = name.utf8.count == 3 ? name.utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } : 0
            guard index.members[place].name.short == letters else { return "another short form of \(name)" }
            if !hasSameElements(value, index, place) { return "other elements of \(name)" }
        }
        return nil
    }

    private static func hasSameElements(_ value: JSONValue, _ index: JSONIndex, _ place: Int) -> Bool {
        let entry = index.members[place].value
        switch value {
        case .string(let text): return entry.kind == .string && entry.isEmpty == text.isEmpty
        case .object(let object): return entry.kind == .object && entry.isEmpty == object.isEmpty
        case .array(let values):
            let texts = values.compactMap(\.stringValue)
            let areTexts = texts.count == values.count
            return entry.kind == .array && entry.isEmpty == values.isEmpty && entry.holdsStringsOnly == areTexts
                && texts.allSatisfy { index.holds($0, at: place) == areTexts } && !index.holds("not there", at: place)
        case .number: return entry.kind == .number
        case .bool(let truth): return entry.kind == (truth ? .yes : .no)
        case .null: return entry.kind == .null
        }
    }

    private static func fault(_ text: String) -> JSONError.Code? {
        if case .failure(let error) = indexed(Array(text.utf8), JSONLimits()) { error.code } else { nil }
    }

    private static func built(_ bytes: [UInt8], _ limits: JSONLimits) -> Result<JSONObject, JSONError> {
        do throws(JSONError) {
            return .success(try StrictJSON.object(bytes, limits: limits))
        } catch {
            return .failure(error)
        }
    }

    private static func indexed(_ bytes: [UInt8], _ limits: JSONLimits) -> Result<JSONIndex, JSONError> {
        do throws(JSONError) {
            return .success(try JSONIndex(reading: bytes, upTo: bytes.count, limits: limits))
        } catch {
            return .failure(error)
        }
    }

    private static func mutate(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        let place = Int.random(in: 0...bytes.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
        case 1 where place < bytes.count: bytes.remove(at: place)
        case 2 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 3: bytes.insert(contentsOf: bytes.prefix(place).suffix(16), at: place)
        case 4: bytes.insert(contentsOf: Array(#""a","#.utf8), at: place)
        default: bytes.insert(Array("\"\\{}[],: \n0au".utf8).randomElement(using: &generator) ?? 0, at: place)
        }
    }
}
