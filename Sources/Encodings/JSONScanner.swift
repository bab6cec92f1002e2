/// The grammar of RFC 8259 and the limits, byte by byte.
///
/// Whoever builds values and whoever only notes where they are reads by these rules, so that both accept the same texts
/// and see the same fault at the same byte. Only the descent into arrays and objects is their own.
struct JSONScanner {
    let input: UnsafeBufferPointer<UInt8>
    let limits: JSONLimits
    var offset: Int
    /// How many arrays and objects are open.
    var depth = 0
    private var values = 0
    /// The members of all objects that are open, the outermost object's first, each up to its last complete one.
    var members: [JSONIndex.Member] = []
    /// What the last string with escapes spells.
    var unescaped: [UInt8] = []

    init(_ input: UnsafeBufferPointer<UInt8>, limits: JSONLimits, from offset: Int = 0) {
        self.input = input
        self.limits = limits
        self.offset = offset
    }

    // MARK: Bytes

    /// The byte at the offset; 0, which no JSON grammar has, at the end. The only place that reads single bytes.
    @inline(__always)
    var byte: UInt8 {
        offset < input.count ? input[offset] : 0
    }

    mutating func skipWhitespace() {
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

    @inline(__always)
    mutating func take(_ wanted: UInt8) -> Bool {
        guard byte == wanted else { return false }
        offset += 1
        return true
    }

    // MARK: Values

    /// Says what kind of value begins here. What is spelled by a word is stepped over; the others are the caller's.
    mutating func begin() throws(JSONError) -> JSONKind {
        values += 1
        guard values <= limits.maxValues else { throw JSONError(.tooManyMembers, at: offset) }
        switch byte {
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"):
            try expect("true")
            return .yes
        case UInt8(ascii: "f"):
            try expect("false")
            return .no
        case UInt8(ascii: "n"):
            try expect("null")
            return .null
        default: throw JSONError(.malformed, at: offset)
        }
    }

    /// Nothing but whitespace follows.
    mutating func finish() throws(JSONError) {
        skipWhitespace()
        guard offset == input.count else { throw JSONError(.trailingBytes, at: offset) }
    }

    // MARK: Arrays and objects

    /// Steps over an opening bracket and the whitespace behind it.
    mutating func descend() throws(JSONError) {
        guard depth < limits.maxDepth else { throw JSONError(.tooDeep, at: offset) }
        depth += 1
        offset += 1
        skipWhitespace()
    }

    /// Steps over a closing bracket (true) or a comma (false); a comma must be followed by something.
    mutating func atEnd(_ closing: UInt8) throws(JSONError) -> Bool {
        skipWhitespace()
        if take(closing) { return true }
        guard take(UInt8(ascii: ",")) else { throw JSONError(.malformed, at: offset) }
        skipWhitespace()
        return false
    }

    /// Whether one more may come to so many elements or members.
    @inline(__always)
    func checkRoom(besides count: Int) throws(JSONError) {
        guard count < limits.maxMembers else { throw JSONError(.tooManyMembers, at: offset) }
    }

    /// Steps over the name of a member and its colon; nothing before in this object has the same name.
    ///
    /// - Parameters:
    ///   - names: the names of this object so far.
    ///   - base: where in `members` this object's begin.
    mutating func name(_ names: inout NameSet, from base: Int) throws(JSONError) -> JSONIndex.Name {
        let count = members.count - base
        try checkRoom(besides: count)
        guard byte == UInt8(ascii: "\"") else { throw JSONError(.malformed, at: offset) }
        if count == NameSet.linearLimit {
            // One step to the final size, so that many members cost no more allocations than some.
            let bound = mostMembers(besides: count)
            if depth == 1 { members.reserveCapacity(bound) }
            names.hash(members, from: base, capacity: bound, in: input)
        }
        let start = offset
        let place = try string()
        try checkUTF8(of: place)
        guard isNew(place, &names, from: base) else { throw JSONError(.duplicateName, at: start) }
        let name = JSONIndex.Name(place, short: short(place))
        skipWhitespace()
        guard take(UInt8(ascii: ":")) else { throw JSONError(.malformed, at: offset) }
        skipWhitespace()
        return name
    }

    /// Forgets the members of an object that has ended; those of the outermost are what an index is made of.
    mutating func forgetMembers(from base: Int) {
        if depth > 1 { members.removeLast(members.count - base) }
    }

    @inline(__always)
    private func isNew(_ name: JSONPlace, _ names: inout NameSet, from base: Int) -> Bool {
        guard name.hasEscapes else {
            return names.insert(name.bytes(in: input), among: members, from: base, in: input)
        }
        return unescaped.withUnsafeBufferPointer { bytes in
            names.insert(unescaped: bytes, among: members, from: base, in: input)
        }
    }

    /// A name of three bytes as a number, the first one highest; 0 for names of any other length.
    @inline(__always)
    private func short(_ name: JSONPlace) -> UInt32 {
        if name.hasEscapes {
            return unescaped.count == 3 ? unescaped.reduce(0) { $0 << 8 | UInt32($1) } : 0
        }
        guard name.count == 3 else { return 0 }
        let at = name.start
        return UInt32(input[at]) << 16 | UInt32(input[at + 1]) << 8 | UInt32(input[at + 2])
    }

    /// How many members an object can come to have: each of those to come has a colon. Only the outermost object is
    /// worth the look: within others it would be a look at the same text again and again.
    private func mostMembers(besides known: Int) -> Int {
        guard depth == 1 else { return known * 2 }
        var colons = 0
        for index in offset..<input.count where input[index] == UInt8(ascii: ":") { colons += 1 }
        return min(known + colons, limits.maxMembers)
    }
}
