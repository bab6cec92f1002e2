/// The URL-safe alphabet of RFC 4648 §5 without padding, as RFC 7515 §2 uses it.
///
/// Decoding is strict, so that one value has one spelling: no padding, no whitespace, no foreign letters, no
/// impossible length, and the unused bits of the last letter are zero.
public enum Base64URL {
    /// The text of `bytes`.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: encodeBytes(bytes), as: UTF8.self)
    }

    /// The text of `bytes`, as ASCII bytes.
    public static func encodeBytes(_ bytes: some Collection<UInt8>) -> [UInt8] {
        bytes.withContiguousStorageIfAvailable(encode(buffer:)) ?? Array(bytes).withUnsafeBufferPointer(encode(buffer:))
    }

    /// The bytes that `text` spells, or nil if it is not the one correct spelling of anything.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        if let decoded = text.withContiguousStorageIfAvailable(decode(buffer:)) { return decoded }
        return Array(text).withUnsafeBufferPointer(decode(buffer:))
    }

    /// The bytes that `text` spells, or nil if it is not the one correct spelling of anything.
    public static func decode(_ text: String) -> [UInt8]? {
        decode(text.utf8)
    }

    /// Whether every byte of `text` belongs to the alphabet; says nothing about length or unused bits.
    package static func isAlphabet(_ text: some Collection<UInt8>) -> Bool {
        text.allSatisfy { values[Int($0)] != invalid }
    }

    // MARK: The two loops

    private static func encode(buffer: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let full = buffer.count / 3
        let rest = buffer.count % 3
        let count = full * 4 + (rest == 0 ? 0 : rest + 1)
        return letters.withUnsafeBufferPointer { letters in
            [UInt8](unsafeUninitializedCapacity: count) { out, written in
                func put(_ sixBits: UInt32) {
                    out[written] = letters[Int(sixBits & 0x3F)]
                    written += 1
                }
                for group in 0..<full {
                    let at = group * 3
                    let bits = UInt32(buffer[at]) << 16 | UInt32(buffer[at + 1]) << 8 | UInt32(buffer[at + 2])
                    put(bits >> 18)
                    put(bits >> 12)
                    put(bits >> 6)
                    put(bits)
                }
                guard rest > 0 else { return }
                let bits = UInt32(buffer[full * 3]) << 16 | (rest == 2 ? UInt32(buffer[full * 3 + 1]) << 8 : 0)
                put(bits >> 18)
                put(bits >> 12)
                if rest == 2 { put(bits >> 6) }
            }
        }
    }

    private static func decode(buffer: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let full = buffer.count / 4
        let rest = buffer.count % 4
        guard rest != 1 else { return nil }
        // Every value read is or-ed in here: a foreign letter has the top bit set, so one test at the end finds it.
        var seen: UInt8 = 0
        var leftover: UInt32 = 0
        let decoded = values.withUnsafeBufferPointer { values in
            [UInt8](unsafeUninitializedCapacity: full * 3 + max(0, rest - 1)) { out, written in
                func value(_ at: Int) -> UInt32 {
                    let value = values[Int(buffer[at])]
                    seen |= value
                    return UInt32(value & 0x3F)
                }
                for group in 0..<full {
                    let at = group * 4
                    let bits = value(at) << 18 | value(at + 1) << 12 | value(at + 2) << 6 | value(at + 3)
                    out[written] = UInt8(truncatingIfNeeded: bits >> 16)
                    out[written + 1] = UInt8(truncatingIfNeeded: bits >> 8)
                    out[written + 2] = UInt8(truncatingIfNeeded: bits)
                    written += 3
                }
                guard rest > 0 else { return }
                let at = full * 4
                let bits = value(at) << 18 | value(at + 1) << 12 | (rest == 3 ? value(at + 2) << 6 : 0)
                out[written] = UInt8(truncatingIfNeeded: bits >> 16)
                written += 1
                leftover = rest == 3 ? bits & 0xFF : bits & 0xFFFF
                guard rest == 3 else { return }
                out[written] = UInt8(truncatingIfNeeded: bits >> 8)
                written += 1
            }
        }
        return seen & invalid == 0 && leftover == 0 ? decoded : nil
    }

    // MARK: Tables

    private static let invalid: UInt8 = 0x80

    private static let letters = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static let values: [UInt8] = {
        var table = [UInt8](repeating: invalid, count: 256)
        for (value, letter) in letters.enumerated() { table[Int(letter)] = UInt8(value) }
        return table
    }()
}
