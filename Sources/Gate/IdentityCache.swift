import NIOCore
import SecurityGuard

/// The fields for callers whose verified token is in memory, found by that token's principal; of one event loop.
package final class IdentityCache {
    private struct Key: Hashable {
        var principal: ObjectIdentifier
        var route: Int
    }

    private struct Entry {
        /// Held, so that nobody else can come by its identifier.
        var principal: Principal
        var session: String?
        var fields: ByteBuffer
        var until: Int64
    }

    private var entries: [Key: Entry] = [:]
    private var generation: UInt64 = 0
    private static let capacity = 4096

    package init() {}

    package func fields(
        of principal: Principal, session: String?, route: Int, now: Int64, generation: UInt64
    ) -> ByteBuffer? {
        guard generation == self.generation,
            let entry = entries[Key(principal: ObjectIdentifier(principal), route: route)], now < entry.until,
            entry.until - now <= AssertionCache.freshness, entry.session == session
        else { return nil }
        return entry.fields
    }

    package func keep(
        _ fields: ByteBuffer, of principal: Principal, session: String?, route: Int, until: Int64, generation: UInt64
    ) {
        if generation != self.generation || entries.count >= Self.capacity {
            self.generation = generation
            entries.removeAll(keepingCapacity: true)
        }
        entries[Key(principal: ObjectIdentifier(principal), route: route)] = Entry(
            principal: principal, session: session, fields: fields, until: until)
    }
}
