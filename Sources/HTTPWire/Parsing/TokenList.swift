/// Iterates over a comma-separated list of tokens in a field value (RFC 9110 section 5.6.1).
///
/// It is stricter than the RFC. An empty value is an empty list, but an empty element between others is malformed. A
/// tab around an element is malformed too, because some parsers take it for a part of the token.
struct TokenList {
    /// What ``next(in:)`` found.
    enum Element {
        /// A token, without the spaces around it.
        case token(ByteRange)
        /// The list has ended, with or without elements.
        case end
        /// Not a list of tokens. The rest cannot be read.
        case malformed
    }

    private var position: Int
    private let end: Int
    private var expectsElement: Bool

    /// A list at the beginning of a field value, which has no whitespace at its ends.
    init(_ value: ByteRange) {
        self.position = value.start
        self.end = value.end
        self.expectsElement = !value.isEmpty
    }

    /// The next element of the list in the head `bytes`. After ``Element/malformed`` it must not be called again.
    mutating func next(in bytes: UnsafeRawBufferPointer) -> Element {
        guard expectsElement else { return .end }
        skipSpaces(bytes)
        let start = position
        while position < end, ByteClass.token.contains(bytes[position]) { position += 1 }
        let token = ByteRange(start: start, end: position)
        guard !token.isEmpty else { return .malformed }
        skipSpaces(bytes)
        if position == end {
            expectsElement = false
        } else if bytes[position] == Byte.comma {
            position += 1
        } else {
            return .malformed
        }
        return .token(token)
    }

    private mutating func skipSpaces(_ bytes: UnsafeRawBufferPointer) {
        while position < end, bytes[position] == Byte.space { position += 1 }
    }
}
