/// The role for counters that all nodes share and that survive restarts, and for the secret that hides what is counted.
package protocol CounterStore: Sendable {
    /// The secret that all nodes of this store share. The first caller's candidate becomes the secret.
    func sharedSecret(name: String, candidate: [UInt8]) async throws -> [UInt8]
    /// Adds to a counter.
    /// - Parameter window: the time over which the sum is taken, in milliseconds.
    /// - Returns: the sum within the window.
    func count(key: String, adding: Int64, window: Milliseconds, now: Milliseconds) async throws -> Int64
}
