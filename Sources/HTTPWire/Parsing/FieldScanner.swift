/// Parses the field section of a head (RFC 9112 section 5) and its final empty line incrementally.
///
/// Offsets count from the head's first byte. The caller passes all bytes of the head so far and the position reached,
/// so every byte is read once however small the packets are. (A value's trailing whitespace is read twice, and a line
/// in an unusual form at most twice.)
struct FieldScanner: Sendable {
    private enum State: UInt8, Sendable {
        case lineStart
        case name
        case beforeValue
        case value
        case lineFeed
        case finalLineFeed
    }

    private let maxFields: Int
    private var state = State.lineStart
    private var hasPlainName = true
    private var nameStart = 0
    private var valueStart = 0
    private var name = ByteRange(start: 0, end: 0)
    /// The known fields among those read so far.
    private(set) var present = KnownFieldSet()
    /// The fields read so far, in the order of the head.
    private(set) var fields: [HeaderField] = []
    /// What the framing and connection fields read so far say. The owner sets `versionMinor` before the first field,
    /// because HTTP/1.0 forbids `Transfer-Encoding`.
    var facts: MessageFacts

    /// A scanner at the first byte after the start line.
    ///
    /// - Parameters:
    ///   - kind: decides which rules of ``MessageFacts`` apply.
    ///   - maxFields: the field after this many is refused with ``WireError/Code/tooManyFields`` at the first byte of
    ///     its name, or when its whole line has arrived.
    init(kind: MessageFacts.Kind, maxFields: Int) {
        self.maxFields = maxFields
        self.facts = MessageFacts(kind: kind)
    }

    /// Continues at `position`. True when the final empty line has been read.
    ///
    /// - Parameters:
    ///   - bytes: the head from its first byte on, no more than ``WireLimits/maxHead`` of it.
    ///   - position: the offset of the next byte to be read. It is moved, and the caller passes it again unchanged.
    /// - Throws: the ``WireError`` of the first rule that is broken; the scanner cannot be used after that.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws(WireError) -> Bool {
        while position < bytes.count {
            switch state {
            case .lineStart:
                if try scanWholeLine(bytes, &position) { continue }
                try startLine(bytes[position], at: position)
                if state == .finalLineFeed { position &+= 1 }
            case .name:
                try scanName(bytes, &position)
            case .beforeValue:
                while position < bytes.count, bytes[position].isOptionalWhitespace { position &+= 1 }
                valueStart = position
                if position < bytes.count { state = .value }
            case .value:
                position = ByteScan.endOfFieldContent(bytes, position, bytes.count)
                guard position < bytes.count else { return false }
                guard bytes[position] == Byte.carriageReturn else { throw Self.badValue(bytes[position]) }
                position &+= 1
                state = .lineFeed
            case .lineFeed:
                guard bytes[position] == Byte.lineFeed else { throw WireError(.lineEnding, "bare CR") }
                try endField(bytes, at: position &- 1)
                position &+= 1
                state = .lineStart
            case .finalLineFeed:
                guard bytes[position] == Byte.lineFeed else { throw WireError(.lineEnding, "bare CR") }
                position &+= 1
                return true
            }
        }
        return false
    }

    /// Parses a line that has arrived completely and has the common form `name: value`, without the state machine.
    /// Returns false and changes nothing for any other line, which the state machine then parses byte by byte.
    private mutating func scanWholeLine(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(WireError) -> Bool {
        let start = position
        var colon = start
        while colon < bytes.count, ByteClass.plainName.contains(bytes[colon]) { colon &+= 1 }
        guard colon > start, colon &+ 2 < bytes.count, bytes[colon] == Byte.colon, bytes[colon &+ 1] == Byte.space,
            !bytes[colon &+ 2].isOptionalWhitespace
        else { return false }
        let valueStart = colon &+ 2
        let end = ByteScan.endOfFieldContent(bytes, valueStart, bytes.count)
        guard end &+ 1 < bytes.count, bytes[end] == Byte.carriageReturn, bytes[end &+ 1] == Byte.lineFeed,
            !bytes[end &- 1].isOptionalWhitespace || end == valueStart
        else { return false }
        try makeRoom()
        let name = ByteRange(start: start, end: colon)
        let field = HeaderField(
            name: name, value: ByteRange(start: valueStart, end: end), id: KnownField.lookup(bytes, name),
            hasPlainName: true)
        fields.append(field)
        position = end &+ 2
        guard field.id != .other else { return true }
        present.insert(field.id)
        try facts.note(field, padding: .none, bytes)
        return true
    }

    private mutating func makeRoom() throws(WireError) {
        if fields.isEmpty { fields.reserveCapacity(16) }
        guard fields.count < maxFields else { throw WireError(.tooManyFields, "too many fields") }
    }

    private mutating func startLine(_ byte: UInt8, at position: Int) throws(WireError) {
        if byte == Byte.carriageReturn {
            state = .finalLineFeed
            return
        }
        guard ByteClass.token.contains(byte) else { throw Self.badLineStart(byte) }
        try makeRoom()
        nameStart = position
        hasPlainName = true
        state = .name
    }

    private mutating func scanName(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws(WireError) {
        while position < bytes.count, ByteClass.plainName.contains(bytes[position]) { position &+= 1 }
        guard position < bytes.count else { return }
        let byte = bytes[position]
        if byte == Byte.colon {
            name = ByteRange(start: nameStart, end: position)
            state = .beforeValue
        } else if ByteClass.token.contains(byte) {
            hasPlainName = false
        } else {
            throw WireError(.fieldName, "a byte in a field name that no token has")
        }
        position &+= 1
    }

    private mutating func endField(_ bytes: UnsafeRawBufferPointer, at end: Int) throws(WireError) {
        var valueEnd = end
        while valueEnd > valueStart, bytes[valueEnd &- 1].isOptionalWhitespace { valueEnd &-= 1 }
        let field = HeaderField(
            name: name,
            value: ByteRange(start: valueStart, end: valueEnd),
            id: KnownField.lookup(bytes, name),
            hasPlainName: hasPlainName)
        fields.append(field)
        guard field.id != .other else { return }
        present.insert(field.id)
        let padding = Self.padding(bytes, field, lineEnd: end)
        try facts.note(field, padding: padding, bytes)
    }

    /// The whitespace around a value other than one space before it.
    private static func padding(
        _ bytes: UnsafeRawBufferPointer, _ field: HeaderField, lineEnd: Int
    ) -> MessageFacts.Padding {
        let before = ByteRange(start: field.name.end + 1, end: field.value.start)
        let after = ByteRange(start: field.value.end, end: lineEnd)
        if after.isEmpty, before.isEmpty || (before.count == 1 && bytes[before.start] == Byte.space) { return .none }
        let hasTab = ByteScan.firstIndex(of: Byte.tab, bytes, before) ?? ByteScan.firstIndex(of: Byte.tab, bytes, after)
        return hasTab == nil ? .spaces : .tabs
    }

    private static func badLineStart(_ byte: UInt8) -> WireError {
        switch byte {
        case Byte.space, Byte.tab: WireError(.obsoleteFolding, "a field line that begins with whitespace")
        case Byte.lineFeed: WireError(.lineEnding, "bare LF")
        case Byte.colon: WireError(.fieldName, "an empty field name")
        default: WireError(.fieldName, "a byte in a field name that no token has")
        }
    }

    private static func badValue(_ byte: UInt8) -> WireError {
        byte == Byte.lineFeed
            ? WireError(.lineEnding, "bare LF") : WireError(.fieldValue, "a control byte in a field value")
    }
}
