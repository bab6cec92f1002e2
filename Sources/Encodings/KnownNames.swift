/// The member names that tokens have all the time, so that reading one makes no string.
///
/// Nothing is decided here: what comes out has exactly the bytes that went in.
enum KnownNames {
    struct Entry: Sendable {
        var low: UInt64 = 0
        var high: UInt64 = 0
        var name = ""
    }

    /// As many bytes as a Swift string holds without memory of its own.
    static let maximumBytes = 15

    private static let names = [
        "alg", "kid", "typ", "cty", "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "client_id", "tenant_id", "scope",
        "fid", "azp", "nonce", "acr", "amr", "cnf", "act", "sid", "email", "name", "roles", "auth_time",
    ]

    /// A table whose place is a multiplication away; of two names for one place the first has it.
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

    /// The name in `count` bytes of a text from an offset on, if it is one that is known.
    ///
    /// - Parameter table: ``table``, which is cheaper to have at hand than to ask for.
    ///
    /// None of the bytes is zero: a JSON string has none as plain text.
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

    /// The bytes as two numbers, filled up with zeros; nil near the end of the text, where nobody needs to hurry.
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
