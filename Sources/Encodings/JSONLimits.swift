/// Bounds on a JSON text, so that its sender cannot decide what reading it costs.
public struct JSONLimits: Sendable, Equatable {
    /// The longest text, in bytes.
    public var maxBytes: Int
    /// The deepest nesting of arrays and objects.
    public var maxDepth: Int
    /// The most members of one object or elements of one array.
    public var maxMembers: Int
    /// The most values in the whole text.
    public var maxValues: Int
    /// The longest string, in bytes after unescaping.
    public var maxStringBytes: Int

    /// The limits given; the defaults suit a token or a small request body.
    ///
    /// The arguments are the properties of the same names: sizes in bytes, and counts.
    public init(
        maxBytes: Int = 64 * 1024,
        maxDepth: Int = 16,
        maxMembers: Int = 1000,
        maxValues: Int = 10_000,
        maxStringBytes: Int = 64 * 1024
    ) {
        self.maxBytes = maxBytes
        self.maxDepth = maxDepth
        self.maxMembers = maxMembers
        self.maxValues = maxValues
        self.maxStringBytes = maxStringBytes
    }
}
