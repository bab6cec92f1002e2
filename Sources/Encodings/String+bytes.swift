extension String {
    /// Whether both strings are the same UTF-8 bytes.
    ///
    /// `==` on strings is canonical equivalence, under which `é` equals `e` with a combining accent; names that decide
    /// about security must not be compared so.
    package func hasSameBytes(as other: String) -> Bool {
        let mine = utf8
        let others = other.utf8
        guard mine.count == others.count else { return false }
        let same = mine.withContiguousStorageIfAvailable { mine in
            others.withContiguousStorageIfAvailable { others in mine.hasSameBytes(as: others) }
        }
        return (same ?? nil) ?? mine.elementsEqual(others)
    }
}

extension String {
    /// A string of bytes that the caller has just looked at: all of them below 0x80.
    @inline(__always)
    init(knownASCII bytes: UnsafeBufferPointer<UInt8>) {
        if #available(macOS 26, *) {
            // Looking at them once more would take longer than copying them.
            self.init(copying: UTF8Span(unchecked: bytes.span, isKnownASCII: true))
        } else {
            self.init(decoding: bytes, as: UTF8.self)
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether both are the same bytes; takes as long as they agree, so not for secrets.
    package func hasSameBytes(as other: Self) -> Bool {
        guard count == other.count else { return false }
        var at = 0
        while let mine = EightBytes(self, at: at), let others = EightBytes(other, at: at) {
            guard mine.word == others.word else { return false }
            at &+= 8
        }
        // The last eight overlap what was compared already: one look instead of up to seven.
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

/// A name that hashes and compares as its UTF-8 bytes, for sets and dictionaries.
package struct ByteName: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
