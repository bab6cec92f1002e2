/// The recursive descent behind `StrictJSON`; the depth is bounded before each descent.
struct JSONParser {
    private let input: UnsafeBufferPointer<UInt8>
    private let limits: JSONLimits
    private(set) var offset = 0
    private var depth = 0
    private var values = 0

    init(_ input: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.input = input
        self.limits = limits
    }

    mutating func document() throws(JSONError) -> JSONValue {
        skipWhitespace()
        let value = try value()
        skipWhitespace()
        guard offset == input.count else { throw JSONError(.trailingBytes, at: offset) }
        return value
    }

    // MARK: Bytes

    /// The byte at the offset; 0, which no JSON grammar has, at the end. The only place that reads the input.
    private var byte: UInt8 {
        offset < input.count ? input[offset] : 0
    }

    private mutating func skipWhitespace() {
        while byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private mutating func expect(_ literal: StaticString) throws(JSONError) {
        for index in 0..<literal.utf8CodeUnitCount {
            guard byte == literal.utf8Start[index] else { throw JSONError(.malformed, at: offset) }
            offset += 1
        }
    }

    private mutating func take(_ wanted: UInt8) -> Bool {
        guard byte == wanted else { return false }
        offset += 1
        return true
    }

    // MARK: Values

    private mutating func value() throws(JSONError) -> JSONValue {
        values += 1
        guard values <= limits.maxValues else { throw JSONError(.tooManyMembers, at: offset) }
        switch byte {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        case UInt8(ascii: "t"):
            try expect("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try expect("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try expect("null")
            return .null
        default: throw JSONError(.malformed, at: offset)
        }
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        try descend()
        defer { depth -= 1 }
        var members: [(name: String, value: JSONValue)] = []
        var names = NameSet()
        if take(UInt8(ascii: "}")) { return JSONObject() }
        members.reserveCapacity(12)
        while true {
            guard members.count < limits.maxMembers else { throw JSONError(.tooManyMembers, at: offset) }
            guard byte == UInt8(ascii: "\"") else { throw JSONError(.malformed, at: offset) }
            let start = offset
            let name = try string()
            guard names.insert(name, into: members) else { throw JSONError(.duplicateName, at: start) }
            skipWhitespace()
            guard take(UInt8(ascii: ":")) else { throw JSONError(.malformed, at: offset) }
            skipWhitespace()
            members.append((name, try value()))
            if try atEnd(UInt8(ascii: "}")) { return JSONObject(unique: members) }
        }
    }

    private mutating func array() throws(JSONError) -> [JSONValue] {
        try descend()
        defer { depth -= 1 }
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return elements }
        while true {
            guard elements.count < limits.maxMembers else { throw JSONError(.tooManyMembers, at: offset) }
            elements.append(try value())
            if try atEnd(UInt8(ascii: "]")) { return elements }
        }
    }

    /// Steps over an opening bracket and the whitespace behind it.
    private mutating func descend() throws(JSONError) {
        guard depth < limits.maxDepth else { throw JSONError(.tooDeep, at: offset) }
        depth += 1
        offset += 1
        skipWhitespace()
    }

    /// Steps over a closing bracket (true) or a comma (false); a comma must be followed by something.
    private mutating func atEnd(_ closing: UInt8) throws(JSONError) -> Bool {
        skipWhitespace()
        if take(closing) { return true }
        guard take(UInt8(ascii: ",")) else { throw JSONError(.malformed, at: offset) }
        skipWhitespace()
        return false
    }

    // MARK: Numbers

    private mutating func number() throws(JSONError) -> JSONNumber {
        let start = offset
        var needsRangeCheck = false
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if byte | 0x20 == UInt8(ascii: "e") {
            needsRangeCheck = true
            offset += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { offset += 1 }
            try digits()
        }
        // A hundred digits say nothing that a date, a size or a counter needs.
        guard offset - start <= 128 else { throw JSONError(.numberOutOfRange, at: start) }
        let number = JSONNumber(checked: String(decoding: input[start..<offset], as: UTF8.self))
        if needsRangeCheck, number.double == nil { throw JSONError(.numberOutOfRange, at: start) }
        return number
    }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { offset += 1 }
        guard offset > start else { throw JSONError(.malformed, at: offset) }
    }

    // MARK: Strings

    private mutating func string() throws(JSONError) -> String {
        offset += 1
        let start = offset
        var ascii = true
        while true {
            let byte = byte
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
            guard byte >= 0x20 else { throw JSONError(.malformed, at: offset) }
            if byte >= 0x80 { ascii = false }
            offset += 1
        }
        let slice = UnsafeBufferPointer(rebasing: input[start..<offset])
        guard slice.count <= limits.maxStringBytes else { throw JSONError(.stringTooLong, at: start) }
        offset += 1
        if ascii { return String(decoding: slice, as: UTF8.self) }
        guard let text = String(validating: slice, as: UTF8.self) else { throw JSONError(.invalidUTF8, at: start) }
        return text
    }

    /// The slow way, for strings with a backslash: the offset is at the first one.
    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var bytes = Array(input[start..<offset])
        while true {
            let byte = byte
            if byte == UInt8(ascii: "\"") { break }
            guard byte >= 0x20 else { throw JSONError(.malformed, at: offset) }
            if byte == UInt8(ascii: "\\") {
                try escape(into: &bytes)
            } else {
                bytes.append(byte)
                offset += 1
            }
            guard bytes.count <= limits.maxStringBytes else { throw JSONError(.stringTooLong, at: start) }
        }
        offset += 1
        guard let text = String(validating: bytes, as: UTF8.self) else { throw JSONError(.invalidUTF8, at: start) }
        return text
    }

    private mutating func escape(into bytes: inout [UInt8]) throws(JSONError) {
        let start = offset
        offset += 1
        let letter = byte
        offset += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(letter)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            var code = try fourHexDigits()
            if (0xD800..<0xDC00).contains(code) {
                guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
                    throw JSONError(.loneSurrogate, at: start)
                }
                let low = try fourHexDigits()
                guard (0xDC00..<0xE000).contains(low) else { throw JSONError(.loneSurrogate, at: start) }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw JSONError(.loneSurrogate, at: start) }
            bytes.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? [])
        default: throw JSONError(.malformed, at: start)
        }
    }

    private mutating func fourHexDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = byte
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw JSONError(.malformed, at: offset)
            }
            value = value << 4 | UInt32(digit)
            offset += 1
        }
        return value
    }
}

/// The names of one object: a handful is compared one by one, more go into a hash table so that the cost stays linear.
private struct NameSet {
    private static let linearLimit = 16
    private var hashed: Set<ByteName> = []
    /// One bit for each length, first and last letter seen: most names are new at a glance.
    private var glance: UInt64 = 0

    /// False if `name` was there already.
    mutating func insert(_ name: String, into members: [(name: String, value: JSONValue)]) -> Bool {
        if members.count < Self.linearLimit {
            let bytes = name.utf8
            let mark = bytes.count &+ Int(bytes.first ?? 0) &* 5 &+ Int(bytes.last ?? 0) &* 11
            let bit = UInt64(1) << UInt64(mark & 63)
            defer { glance |= bit }
            guard glance & bit != 0 else { return true }
            return !members.indices.contains { members[$0].name.hasSameBytes(as: name) }
        }
        if hashed.isEmpty { hashed = Set(members.map { ByteName($0.name) }) }
        return hashed.insert(ByteName(name)).inserted
    }
}
