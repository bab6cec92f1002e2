/// The id of a session or a user as memory compares it: the letters themselves, in words of their own, so that finding one
/// among a million costs no look at a text elsewhere.
struct PackedName: Sendable, Hashable {
    private let words: (UInt64, UInt64, UInt64, UInt64)
    /// The whole text of a name that is not as long as ours; empty for those that are.
    private let other: String

    init(_ text: String) {
        let words = text.utf8.withContiguousStorageIfAvailable(Self.words) ?? nil
        self.words = words ?? (0, 0, 0, 0)
        self.other = words == nil ? text : ""
    }

    /// A prefix of four letters and 22 of base64url; the last two words share some.
    private static func words(_ text: UnsafeBufferPointer<UInt8>) -> (UInt64, UInt64, UInt64, UInt64)? {
        guard text.count == 26 else { return nil }
        let bytes = UnsafeRawBufferPointer(text)
        return (
            bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
            bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
            bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self),
            bytes.loadUnaligned(fromByteOffset: 18, as: UInt64.self)
        )
    }

    /// Which of so many shards the name lies in.
    func shard(of count: Int) -> Int {
        let mixed = (words.0 ^ words.1 ^ words.3) &* 0x9E37_79B9_7F4A_7C15
        let other = other.isEmpty ? 0 : UInt64(bitPattern: Int64(other.hashValue))
        return Int((mixed >> 32 ^ other) % UInt64(count))
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(words.1)
        hasher.combine(words.3)
        if !other.isEmpty { hasher.combine(other) }
    }

    static func == (a: Self, b: Self) -> Bool {
        a.words == b.words && (a.other.isEmpty ? b.other.isEmpty : a.other.utf8.elementsEqual(b.other.utf8))
    }
}
