/// One finding about a token that was not verified.
public struct LintFinding: Sendable, Equatable {
    /// How much it matters.
    public enum Level: String, Sendable {
        /// As RFC 8725 recommends.
        case ok
        /// Allowed, but weaker than recommended.
        case warn
        /// Wrong or dangerous.
        case fail
    }

    /// The name of the check. Names are stable across versions.
    public let check: String
    /// The section of RFC 8725, such as `3.10`.
    public let section: String
    /// How much it matters.
    public let level: Level
    /// One sentence that quotes no value of the token.
    public let message: String
}
