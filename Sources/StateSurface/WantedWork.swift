/// Work that is asked for again and again, and done by one task at a time: what was asked for during a round leads to
/// one more. To be kept under a lock.
package struct WantedWork: Sendable {
    private var isWanted = false
    private var isRunning = false

    package init() {}

    /// Asks for the work. Returns whether the caller must start a task, because none is running.
    package mutating func want() -> Bool {
        isWanted = true
        defer { isRunning = true }
        return !isRunning
    }

    /// Asked by the task before each round: whether there is another one. If not, the task ends.
    package mutating func take() -> Bool {
        defer { isWanted = false }
        if !isWanted { isRunning = false }
        return isWanted
    }
}
