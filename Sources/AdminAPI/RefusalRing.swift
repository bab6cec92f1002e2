/// The refusals of one event loop that were last, in bounded memory. Confined to its loop.
package struct RefusalRing {
    /// How many are kept.
    package static let capacity = 1_000

    private var entries: [RefusalEntry] = []
    private var next = 0

    /// Creates an empty ring.
    package init() {}

    /// Adds a refusal, in place of the oldest one when the ring is full.
    package mutating func add(_ entry: RefusalEntry) {
        if entries.count < Self.capacity {
            entries.append(entry)
        } else if entries.indices.contains(next) {
            entries[next] = entry
        }
        next = (next + 1) % Self.capacity
    }

    /// All of them, in no particular order.
    package var all: [RefusalEntry] { entries }
}
