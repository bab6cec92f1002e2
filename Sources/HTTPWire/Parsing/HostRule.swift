/// The grammar of `Host` and of the authority of a request target: a name or an address, and a port (RFC 9110 section
/// 7.2). User information is refused.
public enum HostRule {
    /// Whether the bytes are the value of a `Host` field: `host [":" port]`.
    public static func accepts(_ host: [UInt8]) -> Bool {
        host.withUnsafeBytes { accepts($0, ByteRange(start: 0, end: $0.count)) }
    }

    /// Whether the bytes are `host [":" port]`. With `requiresPort` the port is not optional.
    ///
    /// At most 261 bytes are accepted: 255 of a name (RFC 1035 section 2.3.4), and six of a colon and a port. A port is
    /// 1 to 65535 in one to five digits; the empty port that RFC 3986 section 3.2.3 allows after the colon is refused.
    static func accepts(_ bytes: UnsafeRawBufferPointer, _ range: ByteRange, requiresPort: Bool = false) -> Bool {
        guard !range.isEmpty, range.count <= 255 + 6 else { return false }
        let hostEnd: Int?
        if bytes[range.start] == Byte.openBracket {
            hostEnd = endOfAddress(bytes, range)
        } else {
            var position = range.start
            while position < range.end, ByteClass.host.contains(bytes[position]) { position += 1 }
            hostEnd = position > range.start ? position : nil
        }
        guard let hostEnd else { return false }
        if hostEnd == range.end { return !requiresPort }
        guard bytes[hostEnd] == Byte.colon else { return false }
        return isPort(bytes, ByteRange(start: hostEnd + 1, end: range.end))
    }

    /// The position after the closing bracket of an IPv6 literal; nil for anything else, zones and IPvFuture included.
    private static func endOfAddress(_ bytes: UnsafeRawBufferPointer, _ range: ByteRange) -> Int? {
        var position = range.start + 1
        var colons = 0
        while position < range.end, ByteClass.address.contains(bytes[position]) {
            if bytes[position] == Byte.colon { colons += 1 }
            position += 1
        }
        guard position < range.end, bytes[position] == Byte.closeBracket else { return nil }
        guard (2...7).contains(colons), position - range.start <= 46 else { return nil }
        return position + 1
    }

    private static func isPort(_ bytes: UnsafeRawBufferPointer, _ range: ByteRange) -> Bool {
        guard (1...5).contains(range.count) else { return false }
        var port = 0
        for position in range.start..<range.end {
            guard bytes[position].isDigit else { return false }
            port = port * 10 + Int(bytes[position] - Byte.zero)
        }
        return (1...65535).contains(port)
    }
}
