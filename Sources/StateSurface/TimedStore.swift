/// A store that says how long its operations take.
package protocol TimedStore: Sendable {
    /// Sets the observer that is told of each operation: its name, of a fixed set, and its time. Called on the threads
    /// of the callers.
    func report(to observer: @escaping @Sendable (_ operation: String, _ time: Duration) -> Void)
}
