/// A name that hashes and compares as its UTF-8 bytes, for sets and dictionaries.
package struct ByteName: Hashable, Sendable {
    /// The name.
    package let text: String

    /// A name that is compared as bytes.
    package init(_ text: String) {
        self.text = text
    }

    /// Equality of the UTF-8 bytes.
    package static func == (left: Self, right: Self) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    /// Hashes the UTF-8 bytes.
    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
