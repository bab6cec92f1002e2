/// Why a command stopped: one line that says what happened and how to mend it, and the code to exit with.
struct CommandFailure: Error, Sendable, CustomStringConvertible {
    /// What the process exits with.
    enum Status: Int32, Sendable {
        /// It was asked for properly and can't be done; for `token verify`: the token is refused.
        case failed = 1
        /// It was asked for wrongly, or a key can't be used.
        case misused = 2
    }

    let status: Status
    let description: String

    init(_ description: String, status: Status = .failed) {
        self.description = description
        self.status = status
    }
}
