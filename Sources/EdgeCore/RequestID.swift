import HTTPWire
import NIOCore

/// An id by which a request is found in log and audit: random per loop and start, then counted. All ids have the same
/// length, so that two refusals of the same kind differ only in the id.
///
/// Kept as its parts: for most requests the id is never needed as a string, only written into the head for the
/// upstream.
package struct RequestID: Sendable {
    /// `req_` and the random part.
    package let prefix: String
    /// The number of the request on its loop.
    package let count: UInt64

    private static let countLength = 8

    /// Creates the id from the random prefix of its loop and its number.
    package init(prefix: String, count: UInt64) {
        self.prefix = prefix
        self.count = count
    }

    /// The id as text.
    package var text: String {
        String(buffer: BytePen.written(expecting: prefix.utf8.count + Self.countLength) { write(to: &$0) })
    }

    /// The number in an id of the loop with this prefix; nil for any other text.
    package static func count(in text: String, prefix: String) -> UInt64? {
        guard text.utf8.starts(with: prefix.utf8), text.utf8.count == prefix.utf8.count + countLength else {
            return nil
        }
        return UInt64(text.dropFirst(prefix.count), radix: 36)
    }

    /// Writes the id, without making a string of it.
    package func write(to pen: inout BytePen) {
        pen.write(prefix)
        pen.write(word: digits)
    }

    /// The number as eight digits in base 36, the first one in the highest byte.
    private var digits: UInt64 {
        var rest = count
        var word: UInt64 = 0
        for place in 0..<Self.countLength {
            word |= UInt64(Self.digit(rest % 36)) << UInt64(8 * place)
            rest /= 36
        }
        return word
    }

    private static func digit(_ value: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 10 ? value + 0x30 : value - 10 + 0x61)
    }

    /// The number in base 36, with zeros in front up to this length.
    package static func padded(_ number: UInt64, to length: Int) -> String {
        let digits = String(number, radix: 36)
        return String(repeating: "0", count: max(0, length - digits.utf8.count)) + digits
    }
}
