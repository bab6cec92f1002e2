import Answers

/// Reads and rewrites `Cookie` field values (RFC 6265 section 4.2) as bytes.
package enum CookieHeader {
    /// Calls `body` with the name and value of each pair, white space around them removed.
    static func forEachPair(
        in bytes: UnsafeRawBufferPointer, _ body: (Slice<UnsafeRawBufferPointer>, Slice<UnsafeRawBufferPointer>) -> Void
    ) {
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: ";")) ?? bytes.endIndex
            let pair = bytes[start..<end]
            if let equals = pair.firstIndex(of: UInt8(ascii: "=")) {
                body(trimmed(pair[..<equals]), trimmed(pair[pair.index(after: equals)...]))
            }
            start = end < bytes.endIndex ? end + 1 : end
        }
    }

    /// The value without the gateway's own cookies; nil when nothing is left, the same bytes when it had none.
    package static func strippingGatewayCookies(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: ";")) ?? bytes.endIndex
            let pair = trimmed(bytes[start..<end])
            if !pair.isEmpty, !isGatewayPair(pair) {
                if !kept.isEmpty { kept += [UInt8(ascii: ";"), UInt8(ascii: " ")] }
                kept += pair
            }
            start = end < bytes.endIndex ? end + 1 : end
        }
        return kept.isEmpty ? nil : kept
    }

    /// Whether one of the gateway's cookies can be among the pairs. All of their names contain the same word, which is
    /// searched for.
    static func mayHoldGatewayCookie(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let word = CookieMode.commonWord
        var position = 0
        while position + word.utf8CodeUnitCount <= bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
            guard let first = rest.firstIndex(of: word.utf8Start.pointee) else { return false }
            position += first
            if bytes[position...].starts(
                with: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
            {
                return true
            }
            position += 1
        }
        return false
    }

    /// Whether a `Set-Cookie` value sets one of the gateway's cookies.
    ///
    /// A cookie may have no name, and a browser sends its value alone: `=gatehouse=x` comes back as `gatehouse=x`.
    package static func setsGatewayCookie(_ bytes: UnsafeRawBufferPointer) -> Bool {
        isGatewayPair(trimmed(bytes[...].prefix { $0 != UInt8(ascii: ";") }))
    }

    private static func isGatewayPair(_ pair: Slice<UnsafeRawBufferPointer>) -> Bool {
        var pair = pair
        while pair.first == UInt8(ascii: "=") { pair = trimmed(pair.dropFirst()) }
        return isGatewayName(trimmed(pair.prefix { $0 != UInt8(ascii: "=") }))
    }

    static func isGatewayName(_ name: Slice<UnsafeRawBufferPointer>) -> Bool {
        CookieMode.allNames.contains { name.elementsEqual($0.utf8) }
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        var slice = bytes
        while let first = slice.first, first == 0x20 || first == 0x09 { slice = slice.dropFirst() }
        while let last = slice.last, last == 0x20 || last == 0x09 { slice = slice.dropLast() }
        return slice
    }
}
