/// The id of a session or a user as memory compares it: the letters themselves, in words of their own, so that finding
/// one among a million costs no look at a text elsewhere.
///
/// A text that does not fit leaves only a trace here. Equal words then say no more than that the texts are worth
/// comparing.
struct PackedName: Sendable {
    /// The letters, and in the last byte how many they are.
    let words: (UInt64, UInt64, UInt64, UInt64)

    /// The name of nobody: no text has the same words.
    static var absent: Self { Self(words: (0, 0, 0, UInt64(PackedText.absent) << 56)) }

    /// Whether the words are all of the text.
    var isWhole: Bool { self.words.3 >> 56 <= UInt64(Self.capacity) }

    private static let capacity = 31

    init(_ text: String) {
        self.init(words: PackedText.withBytes(of: text) { Self.pack($0) })
    }

    private init(words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = words
    }

    private static func pack(_ text: UnsafeBufferPointer<UInt8>) -> (UInt64, UInt64, UInt64, UInt64) {
        guard text.count <= Self.capacity else {
            return (PackedText.trace(text), UInt64(text.count), 0, UInt64(PackedText.tooLong) << 56)
        }
        return (
            PackedText.word(text, from: 0), PackedText.word(text, from: 8), PackedText.word(text, from: 16),
            PackedText.word(text, from: 24) | UInt64(text.count) << 56
        )
    }

    /// Nobody who does not know the seed can tell which names have the same.
    func hash(_ seed: NameSeed) -> UInt64 {
        let front = Self.folded(self.words.0 ^ seed.words.0, self.words.1 ^ seed.words.1)
        let back = Self.folded(self.words.2 ^ seed.words.2, self.words.3 ^ seed.words.3)
        return Self.folded(front ^ seed.words.1, back ^ seed.words.2)
    }

    private static func folded(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }
}

/// The name of a tenant, packed alike; there are only 23 letters of room for it.
struct PackedTenant: Sendable {
    let words: (UInt64, UInt64, UInt64)

    /// The tenant of nobody: no text has the same words.
    static var absent: Self { Self(words: (0, 0, UInt64(PackedText.absent) << 56)) }

    /// Whether the words are all of the text.
    var isWhole: Bool { self.words.2 >> 56 <= UInt64(Self.capacity) }

    private static let capacity = 23

    init(_ text: String) {
        self.init(words: PackedText.withBytes(of: text) { Self.pack($0) })
    }

    private init(words: (UInt64, UInt64, UInt64)) {
        self.words = words
    }

    private static func pack(_ text: UnsafeBufferPointer<UInt8>) -> (UInt64, UInt64, UInt64) {
        guard text.count <= Self.capacity else {
            return (PackedText.trace(text), UInt64(text.count), UInt64(PackedText.tooLong) << 56)
        }
        return (
            PackedText.word(text, from: 0), PackedText.word(text, from: 8),
            PackedText.word(text, from: 16) | UInt64(text.count) << 56
        )
    }
}

/// Random for each view, so that nobody outside can aim at a place in its tables.
struct NameSeed: Sendable {
    let words: (UInt64, UInt64, UInt64, UInt64)

    init() {
        self.init(words: (Self.random(), Self.random(), Self.random(), Self.random()))
    }

    init(words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = words
    }

    private static func random() -> UInt64 { UInt64.random(in: .min ... .max) }
}

/// What both kinds of packed text are made with.
private enum PackedText {
    /// In place of a length: there is no text at all, or one that has no room.
    static let absent: UInt8 = 0xFE
    static let tooLong: UInt8 = 0xFF

    static func withBytes<R>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        text.utf8.withContiguousStorageIfAvailable(body) ?? Array(text.utf8).withUnsafeBufferPointer(body)
    }

    /// Up to eight letters from a place on.
    static func word(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> UInt64 {
        if text.count >= start &+ 8 {
            return UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: start, as: UInt64.self)
        }
        var word: UInt64 = 0
        var at = text.count
        while at > start {
            at &-= 1
            word = word << 8 | UInt64(text[at])
        }
        return word
    }

    /// A hash, random per process, of what is too long to be packed.
    static func trace(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(text))
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
