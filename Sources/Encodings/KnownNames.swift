/// The member names that most tokens have, so that reading them makes no new strings.
///
/// It is a cache only: the string returned has exactly the bytes that were read.
enum KnownNames {
    struct Entry: Sendable {
        var low: UInt64 = 0
        var high: UInt64 = 0
        var name = ""
    }

    /// The length up to which a Swift string needs no allocation, in bytes.
    static let maximumBytes = 15

    private static let names = [
        "alg", "kid", "typ", "cty", "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "client_id", "tenant_id", "scope",
        "fid", "azp", "nonce", "acr", "amr", "cnf", "act", "sid", "email", "name", "roles", "auth_time",
    ]

    /// A hash table without collision handling: of two names with one hash, the first in `names` is kept.
    static let table: [Entry] = {
        var table = [Entry](repeating: Entry(), count: 128)
        for name in names.reversed() {
            let bytes = Array(name.utf8) + [UInt8](repeating: 0, count: 16)
            let entry = bytes.withUnsafeBufferPointer { bytes in
                words(bytes, from: 0, count: name.utf8.count).map { Entry(low: $0.low, high: $0.high, name: name) }
            }
            if let entry { table[place(entry.low, entry.high)] = entry }
        }
        return table
    }()

    /// The known name in `count` bytes of a text at an offset, or nil.
    ///
    /// The bytes are plain text of a JSON string, so none of them is zero.
    ///
    /// - Parameter table: ``table``. It is passed in because each access to a static property costs a check.
    static func name(_ text: UnsafeBufferPointer<UInt8>, from start: Int, count: Int, in table: [Entry]) -> String? {
        guard let (low, high) = words(text, from: start, count: count), low != 0 else { return nil }
        return table.withUnsafeBufferPointer { table in
            let place = place(low, high)
            return table[place].low == low && table[place].high == high ? table[place].name : nil
        }
    }

    private static func place(_ low: UInt64, _ high: UInt64) -> Int {
        Int(truncatingIfNeeded: ((low ^ high &<< 7) &* 0x9E37_79B9_7F4A_7C15) &>> 57)
    }

    /// The bytes as two numbers, padded with zeros; nil if fewer than 16 bytes of text are left, because eight are
    /// loaded at once.
    private static func words(
        _ text: UnsafeBufferPointer<UInt8>, from start: Int, count: Int
    ) -> (low: UInt64, high: UInt64)? {
        guard count > 0, count <= maximumBytes, let low = EightBytes(text, at: start)?.word,
            let high = EightBytes(text, at: start + 8)?.word
        else { return nil }
        if count <= 8 { return (low & (.max >> UInt64(64 - 8 * count)), 0) }
        return (low, high & (.max >> UInt64(128 - 8 * count)))
    }
}
