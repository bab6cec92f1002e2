/// Counters that all nodes share and that survive a restart, and the secret that hides what is counted.
package protocol CounterStore: Sendable {
    /// A secret that all nodes of this store have in common: the candidate of whichever of them came first.
    func sharedSecret(name: String, candidate: [UInt8]) async throws -> [UInt8]
    /// Adds to a counter.
    /// - Parameter window: how far back, in ms, the sum goes.
    /// - Returns: the sum within the window.
    func count(key: String, adding: Int64, window: Milliseconds, now: Milliseconds) async throws -> Int64
}
