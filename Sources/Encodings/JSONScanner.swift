/// The grammar of RFC 8259 and the limits, byte by byte.
///
/// `JSONParser` and `JSONIndexer` both read through it, so that they accept the same texts and report the same fault at
/// the same byte. They differ only in what they do when they descend into arrays and objects.
struct JSONScanner {
    let input: UnsafeBufferPointer<UInt8>
    let limits: JSONLimits
    var offset: Int
    /// The number of open arrays and objects.
    var depth = 0
    private var values = 0
    /// The complete members of all open objects, those of the outermost object first.
    var members: [JSONIndex.Member] = []
    /// The value of the last string with escapes.
    var unescaped: [UInt8] = []

    init(_ input: UnsafeBufferPointer<UInt8>, limits: JSONLimits, from offset: Int = 0) {
        self.input = input
        self.limits = limits
        self.offset = offset
    }

    // MARK: Bytes

    /// The byte at the offset. At the end it is 0, which the JSON grammar does not contain, so callers need no other
    /// check.
    @inline(__always)
    var byte: UInt8 {
        offset < input.count ? input[offset] : 0
    }

    mutating func skipWhitespace() {
        // Tokens are written without whitespace, so this test alone is the common case.
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

    /// The type of the value that begins here. The literals `true`, `false` and `null` are skipped; all other values
    /// are left to the caller.
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

    /// Throws unless only whitespace follows.
    mutating func finish() throws(JSONError) {
        skipWhitespace()
        guard offset == input.count else { throw JSONError(.trailingBytes, at: offset) }
    }

    // MARK: Arrays and objects

    /// Skips an opening bracket and the whitespace after it. Throws if the nesting is too deep.
    mutating func descend() throws(JSONError) {
        guard depth < limits.maxDepth else { throw JSONError(.tooDeep, at: offset) }
        depth += 1
        offset += 1
        skipWhitespace()
    }

    /// Skips a closing bracket and returns true, or skips a comma and returns false. The caller then reads the next
    /// element, so a trailing comma is refused.
    mutating func atEnd(_ closing: UInt8) throws(JSONError) -> Bool {
        skipWhitespace()
        if take(closing) { return true }
        guard take(UInt8(ascii: ",")) else { throw JSONError(.malformed, at: offset) }
        skipWhitespace()
        return false
    }

    /// Throws if an array or object of `count` elements or members may not have one more.
    @inline(__always)
    func checkRoom(besides count: Int) throws(JSONError) {
        guard count < limits.maxMembers else { throw JSONError(.tooManyMembers, at: offset) }
    }

    /// Reads the name of a member and its colon. Throws if an earlier member of the object has the same name.
    ///
    /// - Parameters:
    ///   - names: the set of the names of this object so far.
    ///   - base: the index in `members` at which the members of this object begin.
    mutating func name(_ names: inout MemberNames, from base: Int) throws(JSONError) -> JSONIndex.Name {
        let count = members.count - base
        try checkRoom(besides: count)
        guard byte == UInt8(ascii: "\"") else { throw JSONError(.malformed, at: offset) }
        if count == MemberNames.linearLimit {
            // Reserved at once in the final size, so that many members do not cost more allocations.
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

    /// Removes the members of an object that has ended. Those of the outermost object stay: they make up the index.
    mutating func forgetMembers(from base: Int) {
        if depth > 1 { members.removeLast(members.count - base) }
    }

    @inline(__always)
    private func isNew(_ name: JSONPlace, _ names: inout MemberNames, from base: Int) -> Bool {
        guard name.hasEscapes else {
            return names.insert(name.bytes(in: input), among: members, from: base, in: input)
        }
        return unescaped.withUnsafeBufferPointer { bytes in
            names.insert(unescaped: bytes, among: members, from: base, in: input)
        }
    }

    /// A name of three bytes as a number, the first byte highest; 0 for names of any other length.
    @inline(__always)
    private func short(_ name: JSONPlace) -> UInt32 {
        if name.hasEscapes {
            return unescaped.count == 3 ? unescaped.reduce(0) { $0 << 8 | UInt32($1) } : 0
        }
        guard name.count == 3 else { return 0 }
        let at = name.start
        return UInt32(input[at]) << 16 | UInt32(input[at + 1]) << 8 | UInt32(input[at + 2])
    }

    /// An upper bound for the members of the open object: every further member needs a colon. Colons are counted for
    /// the outermost object only, because counting for nested objects would read the same text repeatedly.
    private func mostMembers(besides known: Int) -> Int {
        guard depth == 1 else { return known * 2 }
        var colons = 0
        for index in offset..<input.count where input[index] == UInt8(ascii: ":") { colons += 1 }
        return min(known + colons, limits.maxMembers)
    }
}
