/// The type of a JSON value.
package enum JSONKind: Sendable {
    case string
    case number
    /// The literal `true`.
    case yes
    /// The literal `false`.
    case no
    case null
    case array
    case object
}

/// The range of a value or name in a JSON text that has been checked.
struct JSONPlace: Sendable {
    /// The index of the first byte; of a string, of the one after its opening quote.
    let start: Int
    /// The index after the last byte; of a string, that of its closing quote.
    let end: Int
    /// Whether it is a string with escapes, so that its value differs from the bytes of the text.
    let hasEscapes: Bool
    /// Whether it is known to be ASCII without escapes.
    let isASCII: Bool

    /// The number of bytes in the text.
    var count: Int { end &- start }

    /// The bytes as they stand in the text.
    @inline(__always)
    func bytes(in text: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: text[start..<end])
    }

    /// Runs `body` with the bytes of the string after unescaping.
    @inline(__always)
    func withSpelling<Answer>(
        in text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Answer
    ) -> Answer {
        guard hasEscapes else { return body(bytes(in: text)) }
        return unescaped(in: text).withUnsafeBufferPointer { body($0) }
    }

    /// Whether the string after unescaping is exactly these bytes.
    @inline(__always)
    func spells(_ wanted: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        withSpelling(in: text) { $0.hasSameBytes(as: wanted) }
    }

    /// The string after unescaping.
    func string(in text: UnsafeBufferPointer<UInt8>) -> String {
        if isASCII { return String(knownASCII: bytes(in: text)) }
        return withSpelling(in: text) { String(decoding: $0, as: UTF8.self) }
    }

    private func unescaped(in text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var scanner = JSONScanner(text, limits: .unbounded, from: start)
        do throws(JSONError) {
            try scanner.unescape(from: start)
        } catch {
            // Cannot happen: the text was checked before.
            return []
        }
        return scanner.unescaped
    }
}

extension JSONLimits {
    /// No limits, for a part of a text that was checked as a whole.
    static var unbounded: JSONLimits {
        JSONLimits(maxBytes: .max, maxDepth: .max, maxMembers: .max, maxValues: .max, maxStringBytes: .max)
    }
}
