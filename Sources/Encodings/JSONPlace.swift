/// What a JSON value is.
package enum JSONKind: Sendable {
    case string
    case number
    case yes
    case no
    case null
    case array
    case object
}

/// A stretch of a JSON text that was read strictly.
struct JSONPlace: Sendable {
    /// The first byte; of a string, the one behind its opening quote.
    let start: Int
    /// The byte behind the last; of a string, its closing quote.
    let end: Int
    /// Whether it is a string with escapes, so that what it spells is not what stands there.
    let hasEscapes: Bool
    /// Whether it was seen that all of it is ASCII and nothing is escaped.
    let isASCII: Bool

    /// How many bytes stand there.
    var count: Int { end &- start }

    /// The bytes that stand there.
    @inline(__always)
    func bytes(in text: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: text[start..<end])
    }

    /// What a body makes of the bytes that the string spells.
    @inline(__always)
    func withSpelling<Answer>(
        in text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Answer
    ) -> Answer {
        guard hasEscapes else { return body(bytes(in: text)) }
        return unescaped(in: text).withUnsafeBufferPointer { body($0) }
    }

    /// Whether the string spells exactly these bytes.
    @inline(__always)
    func spells(_ wanted: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        withSpelling(in: text) { $0.hasSameBytes(as: wanted) }
    }

    /// What the string spells.
    func string(in text: UnsafeBufferPointer<UInt8>) -> String {
        if isASCII { return String(knownASCII: bytes(in: text)) }
        return withSpelling(in: text) { String(decoding: $0, as: UTF8.self) }
    }

    private func unescaped(in text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var scanner = JSONScanner(text, limits: .unbounded, from: start)
        do throws(JSONError) {
            try scanner.unescape(from: start)
        } catch {
            // It was read before, so this does not happen.
            return []
        }
        return scanner.unescaped
    }
}

extension JSONLimits {
    /// For what was judged before, as a part of a text within its limits.
    static var unbounded: JSONLimits {
        JSONLimits(maxBytes: .max, maxDepth: .max, maxMembers: .max, maxValues: .max, maxStringBytes: .max)
    }
}
