/// Iterates over a comma-separated list of tokens in a field value (RFC 9110 section 5.6.1).
///
/// It is stricter than the RFC. An empty value is an empty list, but an empty element between others is malformed. A
/// tab around an element is malformed too, because some parsers take it for a part of the token.
struct TokenList {
    enum Element {
        case token(ByteRange)
        case end
        case malformed
    }

    private var position: Int
    private let end: Int
    private var expectsElement: Bool

    init(_ value: ByteRange) {
        self.position = value.start
        self.end = value.end
        self.expectsElement = !value.isEmpty
    }

    mutating func next(in bytes: UnsafeRawBufferPointer) -> Element {
        guard self.expectsElement else { return .end }
        self.skipSpaces(bytes)
        let start = self.position
        while self.position < self.end, ByteClass.token.contains(bytes[self.position]) { self.position += 1 }
        let token = ByteRange(start: start, end: self.position)
        guard !token.isEmpty else { return .malformed }
        self.skipSpaces(bytes)
        if self.position == self.end {
            self.expectsElement = false
        } else if bytes[self.position] == Byte.comma {
            self.position += 1
        } else {
            return .malformed
        }
        return .token(token)
    }

    private mutating func skipSpaces(_ bytes: UnsafeRawBufferPointer) {
        while self.position < self.end, bytes[self.position] == Byte.space { self.position += 1 }
    }
}
