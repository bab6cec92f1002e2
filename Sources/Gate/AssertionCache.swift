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

    package struct Entry {
        /// Written out, with the assertion.
        package var fields: ByteBuffer
        /// In ms since the epoch.
        package var until: Int64
    }

    /// What was signed lately, and what was signed before that: when the one is full it takes the other's place.
    private var young: [Key: Entry] = [:]
    private var old: [Key: Entry] = [:]
    private var generation: UInt64 = 0
    private let half: Int
    static let freshness: Int64 = 25_000

    /// Some 800 bytes for each of the callers that come within half a minute.
    package init(capacity: Int = 32_768) { half = max(1, capacity / 2) }

    /// What was signed before the keys changed is not found: one of them may be out of service.
    package func fields(for key: Key, now: Int64, generation: UInt64) -> Entry? {
        guard generation == self.generation, let entry = young[key] ?? old[key], now < entry.until,
            entry.until - now <= Self.freshness
        else {
            return nil
        }
        return entry
    }

    package func keep(_ fields: ByteBuffer, for key: Key, now: Int64, generation: UInt64) {
        if generation != self.generation {
            self.generation = generation
            old = [:]
            young = [:]
        } else if young.count >= half {
            old = young
            young = [:]
        }
        young[key] = Entry(fields: fields, until: now + Self.freshness)
    }
}
