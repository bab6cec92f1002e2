/// Reads an object and makes nothing of it: the descent of `JSONParser` over the same `JSONScanner`, with the depth
/// bounded before each step.
struct JSONIndexer {
    private var scanner: JSONScanner

    init(_ input: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        scanner = JSONScanner(input, limits: limits)
    }

    /// Where the members of the object are that the text spells.
    mutating func document() throws(JSONError) -> [JSONIndex.Member] {
        scanner.skipWhitespace()
        let value = try value()
        try scanner.finish()
        // Only now, because a text that is no JSON at all is refused for that.
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

    /// Steps over an object; true if it has no members.
    private mutating func object() throws(JSONError) -> Bool {
        try scanner.descend()
        defer { scanner.depth -= 1 }
        if scanner.take(UInt8(ascii: "}")) { return true }
        let base = scanner.members.count
        var names = NameSet()
        // The members of objects within this one come and go behind its own.
        if scanner.depth == 1 { scanner.members.reserveCapacity(NameSet.linearLimit) }
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

    /// Steps over an array; says whether it has no elements, and whether there are none but strings.
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
