/// One field line of a head: the ranges of its name and value, and which field it is.
public struct HeaderField: Sendable, Equatable {
    /// The name, as sent.
    public var name: ByteRange
    /// The value without surrounding whitespace.
    public var value: ByteRange
    /// The field that the name stands for; ``KnownField/other`` if it is not recognised.
    public var id: KnownField
    /// Whether the name consists of letters, digits and hyphens only. Some upstreams treat `_` and `.` like a hyphen,
    /// so that a name with them could stand for another field.
    public var hasPlainName: Bool

    /// A field line with these parts.
    public init(name: ByteRange, value: ByteRange, id: KnownField, hasPlainName: Bool) {
        self.name = name
        self.value = value
        self.id = id
        self.hasPlainName = hasPlainName
    }
}
