import NIOCore

/// Makes a request head of parts that came taken apart, as HTTP/2 brings them, under the rules of ``HeadScanner``.
///
/// The bytes are laid out as HTTP/1.1 writes them, because heads are forwarded by copying stretches of them; where each
/// part stands is known, so nothing is scanned. Limits and errors are those of a head that arrives as text.
public struct RequestHeadBuilder: Sendable {
    private let limits: WireLimits
    private var bytes = ByteBuffer()
    private let method: ByteRange
    private let target: ByteRange
    private var fields: [HeaderField] = []
    private var present = KnownFieldSet()
    private var facts = MessageFacts(kind: .request)

    /// Begins a head of HTTP/1.1's semantics.
    ///
    /// - Parameters:
    ///   - method: upper-case token of at most 32 bytes, as in a request line.
    ///   - target: the request target, which is HTTP/2's `:path`. Its form is checked in ``finish()``.
    ///   - limits: those of a head that arrives as text. The size counts the bytes that HTTP/1.1 would have.
    /// - Throws: ``WireError/Code/method``, ``WireError/Code/target`` or ``WireError/Code/targetTooLong``.
    public init(method: String, target: String, limits: WireLimits = WireLimits()) throws(WireError) {
        guard !method.isEmpty, method.utf8.count <= RequestLineScanner.maxMethod else {
            throw WireError(.method, "method empty or too long")
        }
        guard method.utf8.allSatisfy({ ByteClass.method.contains($0) }) else {
            throw WireError(.method, "a byte in the method that no method has")
        }
        guard target.utf8.count <= limits.maxTarget else {
            throw WireError(.targetTooLong, "request target too long")
        }
        guard !target.isEmpty, RequestLineScanner.accepts(target: target) else {
            throw WireError(.target, "a byte in the request target that no URI has")
        }
        self.limits = limits
        self.bytes.reserveCapacity(1024)
        self.bytes.writeString(method)
        self.method = ByteRange(start: 0, end: self.bytes.writerIndex)
        self.bytes.writeInteger(Byte.space)
        let start = self.bytes.writerIndex
        self.bytes.writeString(target)
        self.target = ByteRange(start: start, end: self.bytes.writerIndex)
        self.bytes.writeStaticString(" HTTP/1.1\r\n")
        self.fields.reserveCapacity(16)
    }

    /// Adds one field. Whitespace around the value is no part of it.
    ///
    /// Fields keep the order in which they are added. The caller adds HTTP/2's `:authority` as `host`.
    ///
    /// - Throws: what ``HeadScanner`` throws for the same field, after which the builder must not be used.
    public mutating func add(_ name: String, _ value: String) throws(WireError) {
        guard fields.count < limits.maxFields else { throw WireError(.tooManyFields, "too many fields") }
        guard !name.isEmpty, name.utf8.allSatisfy({ ByteClass.token.contains($0) }) else {
            throw WireError(.fieldName, "a byte in a field name that no token has")
        }
        guard value.utf8.allSatisfy(\.isFieldContent) else {
            throw WireError(.fieldValue, "a control byte in a field value")
        }
        let start = bytes.writerIndex
        // The empty line still has to follow.
        guard start + name.utf8.count + value.utf8.count + 6 <= limits.maxHead else {
            throw WireError(.headTooLong, "head too long")
        }
        bytes.writeString(name)
        let nameEnd = bytes.writerIndex
        bytes.writeStaticString(": ")
        let valueStart = bytes.writerIndex
        bytes.writeString(value)
        let valueEnd = bytes.writerIndex
        bytes.writeStaticString("\r\n")
        try note(name: ByteRange(start: start, end: nameEnd), value: ByteRange(start: valueStart, end: valueEnd))
    }

    private mutating func note(name: ByteRange, value: ByteRange) throws(WireError) {
        let bytes = bytes
        try bytes.withUnsafeReadableBytes { (all) throws(WireError) in
            var (start, end) = (value.start, value.end)
            while start < end, all[start].isOptionalWhitespace { start += 1 }
            while end > start, all[end - 1].isOptionalWhitespace { end -= 1 }
            let trimmed = ByteRange(start: start, end: end)
            let around = [ByteRange(start: value.start, end: start), ByteRange(start: end, end: value.end)]
            let hasTab = around.contains { ByteScan.firstIndex(of: Byte.tab, all, $0) != nil }
            let plain = name.start..<name.end
            let field = HeaderField(
                name: name, value: trimmed, id: KnownField.lookup(all, name),
                hasPlainName: plain.allSatisfy { ByteClass.plainName.contains(all[$0]) })
            fields.append(field)
            guard field.id != .other else { return }
            present.insert(field.id)
            let padding: MessageFacts.Padding = trimmed == value ? .none : hasTab ? .tabs : .spaces
            try facts.note(field, padding: padding, all)
        }
    }

    /// The head; fails where its parts do not make one.
    ///
    /// - Throws: ``WireError/Code/headTooLong``, ``WireError/Code/target``, ``WireError/Code/missingHost`` or
    ///   ``WireError/Code/hostMismatch``.
    public consuming func finish() throws(WireError) -> RequestHead {
        guard bytes.writerIndex + 2 <= limits.maxHead else { throw WireError(.headTooLong, "head too long") }
        bytes.writeStaticString("\r\n")
        let slice = bytes
        return try slice.withUnsafeReadableBytes { (all) throws(WireError) in
            try RequestHead(
                all, slice: slice, method: method, target: target, fields: fields,
                present: present, facts: facts)
        }
    }
}
