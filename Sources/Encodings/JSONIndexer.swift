/// Reads an object without making values: the same recursive descent as `JSONParser` over the same `JSONScanner`. The
/// depth is checked before each descent.
struct JSONIndexer {
    private var scanner: JSONScanner

    init(_ input: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        scanner = JSONScanner(input, limits: limits)
    }

    /// The places of the members of the object in the text.
    mutating func document() throws(JSONError) -> [JSONIndex.Member] {
        scanner.skipWhitespace()
        let value = try value()
        try scanner.finish()
        // Checked last, so that a text that is not JSON at all is refused as malformed.
        guard value.kind == .object else { throw JSONError(.notAnObject, at: 0) }
        return scanner.members
    }

    private mutating func value() throws(JSONError) -> JSONIndex.Value {
        let start = scanner.offset
        let kind = try scanner.begin()
        switch kind {
        case .string:
            let place = try scanner.string()
            try scanner.checkUTF8(of: place)
            return JSONIndex.Value(place, kind, isEmpty: place.count == 0)
        case .number:
            return JSONIndex.Value(try scanner.number(), kind)
        case .object:
            let isEmpty = try object()
            return JSONIndex.Value(place(from: start), kind, isEmpty: isEmpty)
        case .array:
            let (isEmpty, holdsStringsOnly) = try array()
            return JSONIndex.Value(place(from: start), kind, isEmpty: isEmpty, holdsStringsOnly: holdsStringsOnly)
        case .yes, .no, .null:
            return JSONIndex.Value(place(from: start), kind)
        }
    }

    private func place(from start: Int) -> JSONPlace {
        JSONPlace(start: start, end: scanner.offset, hasEscapes: false, isASCII: false)
    }

    /// Skips an object; true if it has no members.
    private mutating func object() throws(JSONError) -> Bool {
        try scanner.descend()
        defer { scanner.depth -= 1 }
        if scanner.take(UInt8(ascii: "}")) { return true }
        let base = scanner.members.count
        var names = MemberNames()
        // Members of nested objects are appended behind those of this one, and removed when the nested object ends.
        if scanner.depth == 1 { scanner.members.reserveCapacity(MemberNames.linearLimit) }
        while true {
            let name = try scanner.name(&names, from: base)
            let value = try value()
            scanner.members.append(JSONIndex.Member(name, value))
            if try scanner.atEnd(UInt8(ascii: "}")) {
                scanner.forgetMembers(from: base)
                return false
            }
        }
    }

    /// Skips an array, and says whether it is empty and whether all its elements are strings.
    private mutating func array() throws(JSONError) -> (isEmpty: Bool, holdsStringsOnly: Bool) {
        try scanner.descend()
        defer { scanner.depth -= 1 }
        if scanner.take(UInt8(ascii: "]")) { return (true, true) }
        var count = 0
        var holdsStringsOnly = true
        while true {
            try scanner.checkRoom(besides: count)
            let element = try value()
            if element.kind != .string { holdsStringsOnly = false }
            count += 1
            if try scanner.atEnd(UInt8(ascii: "]")) { return (false, holdsStringsOnly) }
        }
    }
}
