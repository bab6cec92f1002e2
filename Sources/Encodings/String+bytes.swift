extension String {
    /// Whether both strings consist of the same UTF-8 bytes.
    ///
    /// `==` compares strings by canonical equivalence: `é` equals `e` with a combining accent. Names that decide about
    /// security must be compared as bytes.
    package func hasSameBytes(as other: String) -> Bool {
        let mine = utf8
        let others = other.utf8
        guard mine.count == others.count else { return false }
        let same = mine.withContiguousStorageIfAvailable { mine in
            others.withContiguousStorageIfAvailable { others in mine.hasSameBytes(as: others) }
        }
        return (same ?? nil) ?? mine.elementsEqual(others)
    }

    /// Calls `body` with the UTF-8 bytes. A loop over them is several times as fast as one over `utf8`.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }
}

extension String {
    /// A string from bytes that the caller knows to be ASCII.
    @inline(__always)
    init(knownASCII bytes: UnsafeBufferPointer<UInt8>) {
        // Validating them again would take longer than copying them.
        self.init(copying: UTF8Span(unchecked: bytes.span, isKnownASCII: true))
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether both buffers hold the same bytes. It stops at the first difference, so it must not be used for secrets.
    package func hasSameBytes(as other: Self) -> Bool {
        guard count == other.count else { return false }
        var at = 0
        while let mine = EightBytes(self, at: at), let others = EightBytes(other, at: at) {
            guard mine.word == others.word else { return false }
            at &+= 8
        }
        // The last eight bytes overlap those compared already: one comparison instead of up to seven.
        if at > 0, let mine = EightBytes(self, at: count &- 8), let others = EightBytes(other, at: count &- 8) {
            return mine.word == others.word
        }
        while at < count {
            guard self[at] == other[at] else { return false }
            at &+= 1
        }
        return true
    }
}
