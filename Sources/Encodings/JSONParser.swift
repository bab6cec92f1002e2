/// The recursive descent of `StrictJSON`. The depth is checked before each descent.
struct JSONParser {
    private var scanner: JSONScanner
    private let known = KnownNames.table

    init(_ input: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        scanner = JSONScanner(input, limits: limits)
    }

    mutating func document() throws(JSONError) -> JSONValue {
        scanner.skipWhitespace()
        let value = try value()
        try scanner.finish()
        return value
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        switch try scanner.begin() {
        case .string:
            let place = try scanner.string()
            return .string(try scanner.text(of: place))
        case .number:
            let place = try scanner.number()
            return .number(JSONNumber(ascii: place.bytes(in: scanner.input)))
        case .object: return .object(try object())
        case .array: return .array(try array())
        case .yes: return .bool(true)
        case .no: return .bool(false)
        case .null: return .null
        }
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        try scanner.descend()
        defer { scanner.depth -= 1 }
        if scanner.take(UInt8(ascii: "}")) { return JSONObject() }
        let base = scanner.members.count
        var members: [JSONObject.Member] = []
        var names = MemberNames()
        members.reserveCapacity(MemberNames.linearLimit)
        while true {
            let name = try scanner.name(&names, from: base)
            if members.count == MemberNames.linearLimit { members.reserveCapacity(names.capacity) }
            let text = try text(of: name.place)
            members.append(JSONObject.Member(name: text, value: try value()))
            // Kept to compare later names with this one; the value is not used.
            scanner.members.append(JSONIndex.Member(name, JSONIndex.Value(name.place, .null)))
            if try scanner.atEnd(UInt8(ascii: "}")) {
                scanner.forgetMembers(from: base)
                return JSONObject(unique: members)
            }
        }
    }

    private mutating func array() throws(JSONError) -> [JSONValue] {
        try scanner.descend()
        defer { scanner.depth -= 1 }
        var elements: [JSONValue] = []
        if scanner.take(UInt8(ascii: "]")) { return elements }
        while true {
            try scanner.checkRoom(besides: elements.count)
            elements.append(try value())
            if try scanner.atEnd(UInt8(ascii: "]")) { return elements }
        }
    }

    /// The text of the name that was read last. For the names in `KnownNames` no string is made.
    private func text(of name: JSONPlace) throws(JSONError) -> String {
        if name.isASCII, name.count <= KnownNames.maximumBytes,
            let known = KnownNames.name(scanner.input, from: name.start, count: name.count, in: known)
        {
            return known
        }
        return try scanner.text(of: name)
    }
}
