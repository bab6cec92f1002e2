/// The limits for a message head.
public struct WireLimits: Sendable {
    /// The largest head in bytes, including the start line and the final empty line.
    public var maxHead: Int
    /// The longest request target in bytes.
    public var maxTarget: Int
    /// The largest number of field lines.
    public var maxFields: Int

    /// The limits given, clamped: a head to 64 bytes to 16 MiB, a target to the size of the head, fields to 10,000.
    public init(maxHead: Int = 32 * 1024, maxTarget: Int = 8 * 1024, maxFields: Int = 100) {
        self.maxHead = min(max(maxHead, 64), 16 * 1024 * 1024)
        self.maxTarget = min(max(maxTarget, 1), self.maxHead)
        self.maxFields = min(max(maxFields, 1), 10_000)
    }
}
