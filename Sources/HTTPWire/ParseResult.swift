/// The result of parsing a piece of input.
public enum ParseResult<Head: Sendable>: Sendable {
    /// The head is valid so far and not complete.
    case needMoreData
    /// A complete head, which has been removed from the buffer.
    case head(Head)
    /// The peer broke the grammar or a limit. The connection cannot be used any further.
    case failed(WireError)
}
