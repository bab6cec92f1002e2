/// The bounds within which a message head is read.
package struct WireLimits: Sendable {
    /// The largest head in bytes, start line and final empty line included.
    package var maxHead: Int
    /// The longest request target in bytes.
    package var maxTarget: Int
    /// The largest number of fields.
    package var maxFields: Int

    /// Makes limits; a head never grows beyond 16 MiB, whatever is asked for.
    package init(maxHead: Int = 32 * 1024, maxTarget: Int = 8 * 1024, maxFields: Int = 100) {
        self.maxHead = min(max(maxHead, 64), 16 * 1024 * 1024)
        self.maxTarget = min(max(maxTarget, 1), self.maxHead)
        self.maxFields = min(max(maxFields, 1), 10_000)
    }
}

/// What a parser says after each piece of input.
package enum ParseResult<Head: Sendable>: Sendable {
    /// Everything so far is legal, and the head is not complete.
    case needMoreData
    /// A complete head, taken out of the buffer.
    case head(Head)
    /// The peer broke the grammar or a limit; the connection is of no further use.
    case failed(WireError)
}
