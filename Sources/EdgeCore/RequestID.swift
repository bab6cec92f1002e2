import NIOCore

/// An id that finds one request in log and audit: random per loop and start, then counted. All have one length, so that
/// two refusals differ in nothing else.
///
/// Kept in its parts: the text of most requests' ids is only ever written into the head for the upstream.
package struct RequestID: Sendable {
    /// `req_` and what is random.
    private let prefix: String
    private let count: UInt64

    private static let countLength = 8

    package init(prefix: String, count: UInt64) {
        self.prefix = prefix
        self.count = count
    }

    package var text: String {
        var buffer = ByteBuffer()
        write(to: &buffer)
        return String(buffer: buffer)
    }

    package func write(to buffer: inout ByteBuffer) {
        buffer.writeString(prefix)
        // Eight digits to the base of 36 as the bytes of one word, the last digit highest.
        var rest = count
        var word: UInt64 = 0
        for place in 0..<Self.countLength {
            let digit = UInt64(Self.digit(rest % 36))
            rest /= 36
            word |= digit << UInt64(8 * (Self.countLength - 1 - place))
        }
        buffer.writeInteger(word, endianness: .little)
    }

    private static func digit(_ value: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 10 ? value + 0x30 : value - 10 + 0x61)
    }

    package static func padded(_ number: UInt64, to length: Int) -> String {
        let digits = String(number, radix: 36)
        return String(repeating: "0", count: max(0, length - digits.utf8.count)) + digits
    }
}
