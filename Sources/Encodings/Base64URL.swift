/// base64url without padding (RFC 4648 section 5, RFC 7515 section 2).
///
/// Decoding is strict, so that every value has exactly one encoding: padding, whitespace, characters outside the
/// alphabet, impossible lengths, and non-zero unused bits in the last character are refused.
public enum Base64URL {
    /// The encoding of `bytes`.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: encodeBytes(bytes), as: UTF8.self)
    }

    /// The encoding of `bytes`, as ASCII bytes.
    public static func encodeBytes(_ bytes: some Collection<UInt8>) -> [UInt8] {
        bytes.withContiguousStorageIfAvailable(encode(buffer:)) ?? Array(bytes).withUnsafeBufferPointer(encode(buffer:))
    }

    /// The bytes that `text` encodes, or nil if it is not strict base64url.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        if let decoded = text.withContiguousStorageIfAvailable(decode(buffer:)) { return decoded }
        return Array(text).withUnsafeBufferPointer(decode(buffer:))
    }

    /// The bytes that `text` encodes, or nil if it is not strict base64url.
    public static func decode(_ text: String) -> [UInt8]? {
        decode(text.utf8)
    }

    /// Whether every byte of `text` belongs to the alphabet. Length and unused bits are not checked.
    package static func isAlphabet(_ text: some Collection<UInt8>) -> Bool {
        text.allSatisfy { values[Int($0)] != invalid }
    }

    // MARK: Lengths

    /// The length of the encoding of `count` bytes, in characters.
    package static func encodedCount(_ count: Int) -> Int {
        count / 3 * 4 + (count % 3 == 0 ? 0 : count % 3 + 1)
    }

    /// The length in bytes of what `count` valid characters encode.
    private static func decodedCount(_ count: Int) -> Int {
        count / 4 * 3 + max(0, count % 4 - 1)
    }

    // MARK: The two loops

    /// The encoding of the bytes of a buffer, as ASCII bytes.
    package static func encode(buffer: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: encodedCount(buffer.count)) { out, written in
            written = encode(buffer, into: out)
        }
    }

    /// Writes the encoding to `out`, which must have room for ``encodedCount(_:)`` characters, and returns its length.
    package static func encode(
        _ bytes: UnsafeBufferPointer<UInt8>, into out: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        precondition(out.count >= encodedCount(bytes.count))
        let full = bytes.count / 3
        return letters.withUnsafeBufferPointer { letters in
            for group in 0..<full {
                let from = group &* 3
                let to = group &* 4
                let bits = UInt32(bytes[from]) << 16 | UInt32(bytes[from &+ 1]) << 8 | UInt32(bytes[from &+ 2])
                out[to] = letters[Int(bits >> 18)]
                out[to &+ 1] = letters[Int(bits >> 12 & 0x3F)]
                out[to &+ 2] = letters[Int(bits >> 6 & 0x3F)]
                out[to &+ 3] = letters[Int(bits & 0x3F)]
            }
            let rest = bytes.count - full * 3
            guard rest > 0 else { return full * 4 }
            let last = UInt32(bytes[full * 3]) << 16 | (rest == 2 ? UInt32(bytes[full * 3 + 1]) << 8 : 0)
            for place in 0...rest { out[full * 4 + place] = letters[Int(last >> UInt32(18 - 6 * place) & 0x3F)] }
            return full * 4 + rest + 1
        }
    }

    /// The bytes that the characters of a buffer encode, or nil if they are not strict base64url.
    package static func decode(buffer: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard buffer.count % 4 != 1 else { return nil }
        var isGood = false
        let decoded = [UInt8](unsafeUninitializedCapacity: decodedCount(buffer.count)) { out, written in
            isGood = decode(buffer, into: out)
            written = isGood ? decodedCount(buffer.count) : 0
        }
        return isGood ? decoded : nil
    }

    /// Decodes two texts into one array, the second behind the first.
    ///
    /// - Returns: the array and the index at which the second value begins, or nil if either text is not strict
    ///   base64url.
    package static func decode(
        _ first: UnsafeBufferPointer<UInt8>, _ second: UnsafeBufferPointer<UInt8>
    ) -> (bytes: [UInt8], secondStart: Int)? {
        guard first.count % 4 != 1, second.count % 4 != 1 else { return nil }
        let start = decodedCount(first.count)
        let count = start + decodedCount(second.count)
        var isGood = false
        let decoded = [UInt8](unsafeUninitializedCapacity: count) { out, written in
            isGood =
                decode(second, into: UnsafeMutableBufferPointer(rebasing: out[start..<count]))
                && decode(first, into: UnsafeMutableBufferPointer(rebasing: out[..<start]))
            written = isGood ? count : 0
        }
        return isGood ? (decoded, start) : nil
    }

    /// Decodes into `out`, whose length is exactly that of the decoded bytes. False if the text is not strict
    /// base64url; `out` is then undefined.
    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, into out: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        places.withUnsafeBufferPointer { places in
            let full = text.count / 4
            // All table entries are or-ed into `seen`: a character outside the alphabet sets its top byte, so one test
            // at the end is enough.
            var seen: UInt32 = 0
            let pairs = full / 2
            let raw = UnsafeRawBufferPointer(text)
            let rawOut = UnsafeMutableRawBufferPointer(out)
            for pair in 0..<pairs {
                let word = raw.loadUnaligned(fromByteOffset: pair &* 8, as: UInt64.self).littleEndian
                let first = group(of: UInt32(truncatingIfNeeded: word), places)
                let second = group(of: UInt32(truncatingIfNeeded: word >> 32), places)
                seen |= first | second
                let to = pair &* 6
                let six = UInt64(first) | UInt64(second) << 24
                // If there is room, eight bytes are stored instead of six, and the next pair overwrites the last two.
                if to &+ 8 <= rawOut.count {
                    rawOut.storeBytes(of: six.littleEndian, toByteOffset: to, as: UInt64.self)
                } else {
                    for place in 0..<6 { out[to &+ place] = UInt8(truncatingIfNeeded: six >> UInt64(8 &* place)) }
                }
            }
            for group in (pairs &* 2)..<full {
                let from = group &* 4
                let to = group &* 3
                let bits =
                    places[Int(text[from])] | places[256 &+ Int(text[from &+ 1])]
                    | places[512 &+ Int(text[from &+ 2])] | places[768 &+ Int(text[from &+ 3])]
                seen |= bits
                // If there is room, four bytes are stored instead of three, and the next group overwrites the last.
                if to &+ 4 <= out.count {
                    UnsafeMutableRawBufferPointer(out).storeBytes(
                        of: bits.littleEndian, toByteOffset: to, as: UInt32.self)
                } else {
                    out[to] = UInt8(truncatingIfNeeded: bits)
                    out[to &+ 1] = UInt8(truncatingIfNeeded: bits >> 8)
                    out[to &+ 2] = UInt8(truncatingIfNeeded: bits >> 16)
                }
            }
            let rest = text.count - full * 4
            guard rest > 0 else { return seen < foreign }
            var bits = places[Int(text[full * 4])] | places[256 + Int(text[full * 4 + 1])]
            if rest == 3 { bits |= places[512 + Int(text[full * 4 + 2])] }
            seen |= bits
            for place in 0..<(rest - 1) { out[full * 3 + place] = UInt8(truncatingIfNeeded: bits >> (8 * place)) }
            // The bits above the written bytes are the unused ones, which must be zero.
            return seen < foreign && bits >> (8 * (rest - 1)) == 0
        }
    }

    /// The three bytes that four characters encode; the first character is the lowest byte of `letters`.
    @inline(__always)
    private static func group(of letters: UInt32, _ places: UnsafeBufferPointer<UInt32>) -> UInt32 {
        places[Int(letters & 0xFF)] | places[256 &+ Int(letters >> 8 & 0xFF)]
            | places[512 &+ Int(letters >> 16 & 0xFF)] | places[768 &+ Int(letters >> 24)]
    }

    // MARK: Tables

    private static let invalid: UInt8 = 0x80

    private static let foreign: UInt32 = 0x0100_0000

    private static let letters = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static let values: [UInt8] = {
        var table = [UInt8](repeating: invalid, count: 256)
        for (value, letter) in letters.enumerated() { table[Int(letter)] = UInt8(value) }
        return table
    }()

    /// Four tables of 256 entries, one for each position in a group of four characters. An entry has the character's
    /// six bits shifted to where they belong in the group's three bytes, of which the first is the lowest.
    private static let places: [UInt32] = (0..<4).flatMap { place in
        values.map { value in
            value == invalid ? foreign : (UInt32(value) << UInt32(18 - 6 * place)).byteSwapped >> 8
        }
    }
}
