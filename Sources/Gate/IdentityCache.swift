import Caching
import HTTPWire
import SecurityGuard

/// The identity fields for callers whose verified token is in memory, found by that token's principal. One cache per
/// event loop.
package final class IdentityCache {
    private struct Key: Hashable {
        var principal: ObjectIdentifier
        var route: Int
    }

    private struct Entry {
        /// Kept alive, so that no other principal can get the same object identifier.
        let principal: Principal
        /// The version of the caller's account that the fields say; nil where they say nothing of it.
        let profile: Int64?
        let session: String?
        let fields: FieldLines
    }

    private var entries = BoundedCache<Key, Entry>(capacity: 4096)
    private var generation: UInt64 = 0

    /// Creates an empty cache.
    package init() {}

    /// The fields that were kept for this principal, version of their account, session and route; nil when there are
    /// none that are fresh.
    package func fields(
        of principal: Principal, profile: Int64?, session: String?, route: Int, now: Int64, generation: UInt64
    ) -> FieldLines? {
        guard generation == self.generation,
            let entry = entries.entry(for: Key(principal: ObjectIdentifier(principal), route: route), at: now),
            entry.until - now <= AssertionCache.freshness, entry.value.profile == profile,
            entry.value.session == session
        else { return nil }
        return entry.value.fields
    }

    /// Keeps the fields until `until`, in ms since the epoch.
    package func keep(
        _ fields: FieldLines, of principal: Principal, profile: Int64?, session: String?, route: Int, until: Int64,
        generation: UInt64
    ) {
        if generation != self.generation {
            self.generation = generation
            entries.removeAll()
        }
        entries.insert(
            Entry(principal: principal, profile: profile, session: session, fields: fields),
            for: Key(principal: ObjectIdentifier(principal), route: route), until: until)
    }
}
