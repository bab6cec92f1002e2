/// Work that is requested repeatedly and done by one task at a time: any number of requests during a round lead to
/// one more. To be kept under a lock.
package struct CoalescedWork: Sendable {
    private var isRequested = false
    private var isRunning = false

    /// No work is requested, and none runs.
    package init() {}

    /// Asks for the work. Returns whether the caller must start a task, because none is running.
    package mutating func request() -> Bool {
        isRequested = true
        defer { isRunning = true }
        return !isRunning
    }

    /// Asked by the task before each round: whether there is another one. If not, the task ends.
    package mutating func takeRequest() -> Bool {
        defer { isRequested = false }
        if !isRequested { isRunning = false }
        return isRequested
    }
}
