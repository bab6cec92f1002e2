/// The id of a session or user packed into four words, so that comparing it needs no access to a string elsewhere in
/// memory.
///
/// A text that does not fit is packed as a hash. If the words are equal, the texts must then be compared as well.
struct PackedName: Sendable {
    /// The bytes of the text, and in the last byte their number.
    let words: (UInt64, UInt64, UInt64, UInt64)

    /// A value that no text is packed to.
    static var absent: Self { Self(words: (0, 0, 0, UInt64(PackedText.absent) << 56)) }

    /// Whether the words contain the whole text.
    var isWhole: Bool { words.3 >> 56 <= UInt64(Self.capacity) }

    private static let capacity = 31

    /// Packs up to 31 bytes of UTF-8 as they are; of a longer text a hash and its length.
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

    /// A hash with a random seed, so that clients cannot choose names that collide.
    func hash(_ seed: NameSeed) -> UInt64 {
        let front = Self.folded(words.0 ^ seed.words.0, words.1 ^ seed.words.1)
        let back = Self.folded(words.2 ^ seed.words.2, words.3 ^ seed.words.3)
        return Self.folded(front ^ seed.words.1, back ^ seed.words.2)
    }

    private static func folded(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }
}

/// The name of a tenant, packed in the same way into three words, which have room for 23 bytes.
struct PackedTenant: Sendable {
    let words: (UInt64, UInt64, UInt64)

    /// A value that no text is packed to.
    static var absent: Self { Self(words: (0, 0, UInt64(PackedText.absent) << 56)) }

    /// Whether the words contain the whole text.
    var isWhole: Bool { words.2 >> 56 <= UInt64(Self.capacity) }

    private static let capacity = 23

    /// Packs up to 23 bytes of UTF-8 as they are; of a longer text a hash and its length.
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

/// A random seed for each view, so that clients cannot choose names that collide in its tables.
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

/// The common functions of both kinds of packed text.
private enum PackedText {
    /// In place of the length: there is no text.
    static let absent: UInt8 = 0xFE
    static let tooLong: UInt8 = 0xFF

    static func withBytes<R>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        text.utf8.withContiguousStorageIfAvailable(body) ?? Array(text.utf8).withUnsafeBufferPointer(body)
    }

    /// Up to eight bytes from an offset on.
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

    /// A hash, random per process, of a text that is too long to be packed.
    static func trace(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(text))
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
