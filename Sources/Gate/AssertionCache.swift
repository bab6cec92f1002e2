import Caching
import NIOCore

/// Identity fields whose assertion was signed a moment ago, of one event loop.
///
/// An assertion is good for a minute and says nothing of the single request or token, so a caller's next requests to the
/// same route carry the same one for half of that time.
package final class AssertionCache {
    /// All that the fields say.
    package struct Key: Hashable {
        package var tenant: String?
        package var user: String?
        package var client: String?
        package var scope: String?
        package var session: String?
        package var route: Int
    }

    /// Of one key generation: what was signed before the keys changed may rest on one that is out of service.
    private var assertions: BoundedCache<Key, ByteBuffer>
    private var generation: UInt64 = 0
    static let freshness: Int64 = 25_000

    /// Some 800 bytes for each of the callers that come within half a minute.
    package init(capacity: Int = 32_768) { assertions = BoundedCache(capacity: capacity) }

    /// The fields, and until when they may be used, in ms since the epoch.
    package func fields(for key: Key, now: Int64, generation: UInt64) -> (fields: ByteBuffer, until: Int64)? {
        guard generation == self.generation, let entry = assertions.entry(for: key, at: now),
            entry.until - now <= Self.freshness
        else { return nil }
        return (entry.value, entry.until)
    }

    package func keep(_ fields: ByteBuffer, for key: Key, now: Int64, generation: UInt64) {
        if generation != self.generation {
            self.generation = generation
            assertions.removeAll()
        }
        assertions.insert(fields, for: key, until: now + Self.freshness)
    }
}
