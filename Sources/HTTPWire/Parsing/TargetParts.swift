/// The parts of a request target.
struct TargetParts: Sendable {
    /// The form, chosen by method and first byte.
    var form: TargetForm
    /// Host and port of the absolute and authority forms; nil for the others.
    var authority: ByteRange?
    /// The path. Empty for an absolute form without one, and for the authority and asterisk forms.
    var path: ByteRange
    /// The query without the question mark; nil if there is none.
    var query: ByteRange?

    /// Splits a target that is not empty and has only bytes that ``RequestLineScanner`` accepts.
    ///
    /// - Throws: ``WireError/Code/target`` if it has none of the four forms, or a form that its method does not allow.
    init(_ bytes: UnsafeRawBufferPointer, target: ByteRange, method: RequestMethod) throws(WireError) {
        let nowhere = ByteRange(start: target.end, end: target.end)
        self.path = nowhere
        if method == .connect {
            guard HostRule.accepts(bytes, target, requiresPort: true) else {
                throw WireError(.target, "CONNECT without host and port")
            }
            self.form = .authority
            self.authority = target
            return
        }
        if bytes[target.start] == Byte.slash {
            self.form = .origin
            self.splitQuery(bytes, target)
            return
        }
        if target.count == 1, bytes[target.start] == Byte.asterisk {
            guard method == .options else { throw WireError(.target, "asterisk-form without OPTIONS") }
            self.form = .asterisk
            return
        }
        self.form = .absolute
        try self.splitAbsolute(bytes, target)
    }

    private mutating func splitAbsolute(_ bytes: UnsafeRawBufferPointer, _ target: ByteRange) throws(WireError) {
        var start = target.start
        if ByteScan.hasPrefix(bytes, target, "http://") {
            start += 7
        } else if ByteScan.hasPrefix(bytes, target, "https://") {
            start += 8
        } else {
            throw WireError(.target, "neither a path nor an http URI")
        }
        var end = start
        while end < target.end, bytes[end] != Byte.slash, bytes[end] != Byte.questionMark { end += 1 }
        let authority = ByteRange(start: start, end: end)
        guard HostRule.accepts(bytes, authority) else { throw WireError(.target, "an authority that is no host") }
        self.authority = authority
        splitQuery(bytes, ByteRange(start: end, end: target.end))
    }

    private mutating func splitQuery(_ bytes: UnsafeRawBufferPointer, _ rest: ByteRange) {
        guard let mark = ByteScan.firstIndex(of: Byte.questionMark, bytes, rest) else {
            path = rest
            return
        }
        path = ByteRange(start: rest.start, end: mark)
        query = ByteRange(start: mark + 1, end: rest.end)
    }
}
