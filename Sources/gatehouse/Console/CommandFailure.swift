/// Why a command failed: one line that says what happened and how to fix it, and the exit status.
struct CommandFailure: Error, Sendable, CustomStringConvertible {
    /// The exit status of the process.
    enum Status: Int32, Sendable {
        /// The command was used correctly and failed. For `token verify`: the token is refused.
        case failed = 1
        /// Wrong usage, or a key that cannot be used.
        case misused = 2
    }

    let status: Status
    /// One line for people, without a final full stop.
    let description: String

    init(_ description: String, status: Status = .failed) {
        self.description = description
        self.status = status
    }
}
