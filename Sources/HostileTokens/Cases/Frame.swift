/// Writes WebSocket frames (RFC 6455 section 5.2), valid and invalid ones.
enum Frame {
    /// A client frame. The masking key is zero, so the payload is unchanged.
    static func masked(first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        guard payload.count < 126 else {
            let count = UInt16(truncatingIfNeeded: payload.count)
            return [first, 0x80 | 126, UInt8(count >> 8), UInt8(count & 0xFF), 0, 0, 0, 0] + payload
        }
        return [first, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload
    }

    static func text(_ text: String) -> [UInt8] { masked(first: 0x81, Array(text.utf8)) }

    /// Whether the server's frames include a Close.
    static func holdsClose(_ bytes: [UInt8]) -> Bool {
        var index = 0
        while index + 1 < bytes.count {
            if bytes[index] & 0x0F == 8 { return true }
            var length = Int(bytes[index + 1] & 0x7F)
            var start = index + 2
            let extra = length == 126 ? 2 : length == 127 ? 8 : 0
            if extra > 0 {
                guard start + extra <= bytes.count else { return false }
                length = bytes[start..<(start + extra)].reduce(0) { ($0 << 8 | Int($1)) & 0xFFFF_FFFF }
                start += extra
            }
            index = start + length
        }
        return false
    }
}
