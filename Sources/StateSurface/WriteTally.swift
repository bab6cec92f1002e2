import Synchronization

/// Counts the writes that fail because of the store, and not because of what they write.
final class WriteTally: Sendable {
    private let refused = Mutex(RefusedWrites())

    var value: RefusedWrites { refused.withLock { $0 } }

    /// Runs a write, and counts it if the store could not take it.
    func count<Value: Sendable>(_ write: () async throws -> Value) async throws -> Value {
        do {
            return try await write()
        } catch let error as StateSurfaceError {
            if error.code == .full || error.code == .unavailable || error.code == .misconfigured {
                refused.withLock { $0 = RefusedWrites(count: $0.count + 1, cause: error.message) }
            }
            throw error
        }
    }
}
