/// The recursive descent behind `StrictJSON`; the depth is bounded before each descent.
struct JSONParser {
    private let input: UnsafeBufferPointer<UInt8>
    private let limits: JSONLimits
    private let known = KnownNames.table
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
        // In a token there is none.
        guard byte <= 0x20 else { return }
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
        if take(UInt8(ascii: "}")) { return JSONObject() }
        var members: [JSONObject.Member] = []
        var names = NameSet()
        members.reserveCapacity(NameSet.linearLimit)
        while true {
            guard members.count < limits.maxMembers else { throw JSONError(.tooManyMembers, at: offset) }
            guard byte == UInt8(ascii: "\"") else { throw JSONError(.malformed, at: offset) }
            if members.count == NameSet.linearLimit {
                // One step to the final size, so that many members cost no more allocations than some.
                let bound = mostMembers(besides: members.count)
                members.reserveCapacity(bound)
                names.hash(members, capacity: bound)
            }
            let start = offset
            let name = try name()
            guard names.insert(name, into: members) else { throw JSONError(.duplicateName, at: start) }
            skipWhitespace()
            guard take(UInt8(ascii: ":")) else { throw JSONError(.malformed, at: offset) }
            skipWhitespace()
            members.append(JSONObject.Member(name: name.text, value: try value()))
            if try atEnd(UInt8(ascii: "}")) { return JSONObject(unique: members) }
        }
    }

    /// How many members an object can come to have: each of those to come has a colon. Only the outermost object is
    /// worth the look: within others it would be a look at the same text again and again.
    private func mostMembers(besides known: Int) -> Int {
        guard depth == 1 else { return known * 2 }
        var colons = 0
        for index in offset..<input.count where input[index] == UInt8(ascii: ":") { colons += 1 }
        return min(known + colons, limits.maxMembers)
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
        // More digits say nothing that a date, a size or a counter needs.
        guard offset - start <= 128 else { throw JSONError(.numberOutOfRange, at: start) }
        let number = JSONNumber(checked: String(knownASCII: UnsafeBufferPointer(rebasing: input[start..<offset])))
        if needsRangeCheck, number.double == nil { throw JSONError(.numberOutOfRange, at: start) }
        return number
    }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { offset += 1 }
        guard offset > start else { throw JSONError(.malformed, at: offset) }
    }

    // MARK: Strings

    /// A member's name and its mark; the usual names make no new string.
    private mutating func name() throws(JSONError) -> (text: String, mark: UInt64) {
        let start = offset
        if let plain = plainString(), plain.count <= min(KnownNames.maximumBytes, limits.maxStringBytes),
            let known = KnownNames.name(input, from: start + 1, count: plain.count, in: known)
        {
            return (known, NameSet.mark(UnsafeBufferPointer(rebasing: input[(start + 1)..<(offset - 1)])))
        }
        offset = start
        var text = try string()
        return (text, text.withUTF8(NameSet.mark))
    }

    private mutating func string() throws(JSONError) -> String {
        let start = offset + 1
        guard let plain = plainString() else {
            // The offset is where the plain text ended.
            guard byte == UInt8(ascii: "\\") else { throw JSONError(.malformed, at: offset) }
            return try escapedString(from: start)
        }
        let slice = UnsafeBufferPointer(rebasing: input[start..<(start + plain.count)])
        guard slice.count <= limits.maxStringBytes else { throw JSONError(.stringTooLong, at: start) }
        if plain.isASCII { return String(knownASCII: slice) }
        guard let text = String(validating: slice, as: UTF8.self) else { throw JSONError(.invalidUTF8, at: start) }
        return text
    }

    /// Steps over a string up to and with its closing quote; or, with nil, up to the first byte that is not plain text.
    private mutating func plainString() -> (count: Int, isASCII: Bool)? {
        offset += 1
        let start = offset
        var high: UInt64 = 0
        while let eight = EightBytes(input, at: offset) {
            let ends = eight.stringEnds
            if ends != 0 {
                let place = ends.trailingZeroBitCount & ~7
                high |= eight.notASCII & ~(UInt64.max &<< UInt64(place))
                offset &+= place &>> 3
                break
            }
            high |= eight.notASCII
            offset &+= 8
        }
        while byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
            high |= UInt64(byte & 0x80)
            offset &+= 1
        }
        guard take(UInt8(ascii: "\"")) else { return nil }
        return (offset - 1 - start, high == 0)
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
