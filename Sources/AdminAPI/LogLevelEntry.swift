/// The level of the log.
package struct LogLevelEntry: Sendable, Equatable {
    /// The level, such as `info`.
    package var level: String
    /// When it goes back to the configured one, in ms since the epoch; nil where it is the configured one.
    package var until: Int64?

    package init(level: String, until: Int64?) {
        self.level = level
        self.until = until
    }
}
