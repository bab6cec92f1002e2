import Caching
import HTTPWire

/// The identity fields, with their recently signed assertion, that one event loop keeps for reuse.
///
/// An assertion is good for a minute and says nothing of the single request or token, so a caller's next requests to the
/// same route carry the same one for half of that time.
package final class AssertionCache {
    /// Everything that the fields say.
    package struct Key: Hashable {
        /// The caller's tenant.
        package var tenant: String?
        /// The caller's user.
        package var user: String?
        /// The OAuth client the token was issued to.
        package var client: String?
        /// The token's scopes, separated by spaces.
        package var scope: String?
        /// The version of the caller's account; nil where the fields say nothing of it.
        package var profile: Int64?
        /// The caller's session.
        package var session: String?
        /// The number of the route, which has an audience of its own.
        package var route: Int
    }

    /// Assertions of one key generation only: one that was signed before the keys changed may use a key that is out of
    /// service.
    private var assertions: BoundedCache<Key, FieldLines>
    private var generation: UInt64 = 0
    static let freshness: Int64 = 25_000

    /// Creates an empty cache. An entry takes about 900 bytes, for each caller that comes within half a minute.
    package init(capacity: Int = 32_768) { assertions = BoundedCache(capacity: capacity) }

    /// The kept fields, and until when they may be used, in ms since the epoch; nil when there are none that are fresh.
    package func fields(for key: Key, now: Int64, generation: UInt64) -> (fields: FieldLines, until: Int64)? {
        guard generation == self.generation, let entry = assertions.entry(for: key, at: now),
            entry.until - now <= Self.freshness
        else { return nil }
        return (entry.value, entry.until)
    }

    /// Keeps fields whose assertion was signed at `now` with the keys of this generation.
    package func keep(_ fields: FieldLines, for key: Key, now: Int64, generation: UInt64) {
        if generation != self.generation {
            self.generation = generation
            assertions.removeAll()
        }
        assertions.insert(fields, for: key, until: now + Self.freshness, now: now)
    }
}
