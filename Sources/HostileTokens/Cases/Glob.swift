/// Patterns as in a shell: `*` stands for any text, `?` for one byte, `[a-c7]` for one of these bytes and `[!a-c]` for
/// one that is none of them.
public enum Glob {
    /// Whether one pattern of `only` matches, or there are none, and none of `skip` does.
    ///
    /// - Parameters:
    ///   - text: the id of a case.
    ///   - only: patterns; empty to select all.
    ///   - skip: patterns that win over those of `only`.
    public static func selects(_ text: String, only: [String], skip: [String]) -> Bool {
        (only.isEmpty || only.contains { matches($0, text) }) && !skip.contains { matches($0, text) }
    }

    /// Whether the whole text matches. The time is at most proportional to the product of the lengths.
    public static func matches(_ pattern: String, _ text: String) -> Bool {
        let parts = parts(of: Array(pattern.utf8))
        let text = Array(text.utf8)
        var place = 0
        var index = 0
        // The position to return to when the text after the last star does not match.
        var star: (place: Int, index: Int)?
        while index < text.count {
            if place < parts.count, case .anyText = parts[place] {
                star = (place, index)
                place += 1
            } else if place < parts.count, parts[place].matches(text[index]) {
                place += 1
                index += 1
            } else if let last = star {
                star = (last.place, last.index + 1)
                place = last.place + 1
                index = last.index + 1
            } else {
                return false
            }
        }
        return parts[place...].allSatisfy { if case .anyText = $0 { true } else { false } }
    }

    /// What a pattern consists of.
    private enum Part {
        case anyText
        case anyByte
        case byte(UInt8)
        case set([ClosedRange<UInt8>], isNegated: Bool)

        /// Whether this part, if it is one for a single byte, matches a byte.
        func matches(_ byte: UInt8) -> Bool {
            switch self {
            case .anyText: false
            case .anyByte: true
            case .byte(let expected): byte == expected
            case .set(let ranges, let isNegated): ranges.contains { $0.contains(byte) } != isNegated
            }
        }
    }

    /// The parts of a pattern. Bytes that have no meaning stand for themselves.
    private static func parts(of pattern: [UInt8]) -> [Part] {
        var parts: [Part] = []
        var rest = pattern[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "*"): parts.append(.anyText)
            case UInt8(ascii: "?"): parts.append(.anyByte)
            case UInt8(ascii: "["):
                // A bracket that is not closed stands for itself.
                parts.append(takeSet(&rest) ?? .byte(byte))
            default: parts.append(.byte(byte))
            }
        }
        return parts
    }

    /// Takes what is behind an opening bracket, up to the closing one. A closing one that comes first is a member.
    private static func takeSet(_ pattern: inout ArraySlice<UInt8>) -> Part? {
        var rest = pattern
        let isNegated = rest.first == UInt8(ascii: "!") || rest.first == UInt8(ascii: "^")
        if isNegated { rest = rest.dropFirst() }
        var ranges: [ClosedRange<UInt8>] = []
        var isFirst = true
        while let low = rest.popFirst() {
            if low == UInt8(ascii: "]"), !isFirst {
                pattern = rest
                return .set(ranges, isNegated: isNegated)
            }
            isFirst = false
            let next = rest.prefix(2)
            if next.first == UInt8(ascii: "-"), let high = next.dropFirst().first, high != UInt8(ascii: "]") {
                rest = rest.dropFirst(2)
                // A range that ends before it begins holds nothing.
                if low <= high { ranges.append(low...high) }
            } else {
                ranges.append(low...low)
            }
        }
        return nil
    }
}
