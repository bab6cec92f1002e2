import Encodings
import StateSurface

/// A hash table of sessions by id, with a limited capacity. Sessions that were not used recently are dropped first.
///
/// It uses open addressing with linear probing in one block of memory, and moves slots up when one is emptied, without
/// tombstones. It must be kept in one place under a lock, because a copy would share the slots.
///
/// It replaces a dictionary because a random lookup among a million sessions takes half as long: the data for a
/// decision is in the slot, and with a dictionary of strings it is in four places (measured in `docs/performance.md`).
struct SessionTable: Sendable {
    private static let smallest = 8
    /// The number of slots examined to find one to drop.
    private static let sample = 64

    /// The number of sessions, at most `capacity`.
    private(set) var count = 0
    private var block = SlotBlock(count: Self.smallest)
    private let capacity: Int
    private let seed: NameSeed
    /// Increases by one whenever half the capacity has been used. When the table is full, there is therefore always a
    /// session that was used neither in this generation nor in the previous one.
    private var generation: UInt32 = 0
    private var usedInGeneration = 0
    /// The slot at which the next search for a session to drop begins.
    private var hand = 0

    /// - Parameter seed: the seed of the keys.
    init(capacity: Int, seed: NameSeed) {
        self.capacity = max(1, capacity)
        self.seed = seed
    }

    /// The number of slots, including empty ones.
    var room: Int { block.count }

    // MARK: Lookup

    /// The slot of a session, which counts as used. Its reference is valid as long as the lock is held.
    mutating func use(_ key: SessionKey) -> SessionSlot? {
        guard let place = place(of: key) else { return nil }
        noteUse(at: place)
        return block.slots[place]
    }

    /// Records a use of a session.
    ///
    /// - Parameter now: milliseconds since 1970, from this node's clock.
    /// - Returns: whether the use must be written to the store: not if one was recorded within `resolution`. True also
    ///   for a session that is not in the table.
    mutating func touch(_ key: SessionKey, at now: Milliseconds, resolution: Milliseconds) -> Bool {
        guard let place = place(of: key) else { return true }
        noteUse(at: place)
        let last = block.slots[place].times.lastSeenAt
        guard now.subtractingReportingOverflow(last).partialValue >= resolution else { return false }
        block.slots[place].times.lastSeenAt = now
        return true
    }

    private func place(of key: SessionKey) -> Int? {
        var place = block.home(of: key.hash)
        // Ends because there is always an empty slot.
        while !block.isEmpty(place) {
            if key.isKey(of: block.slots[place]) { return place }
            place = block.next(after: place)
        }
        return nil
    }

    private mutating func noteUse(at place: Int) {
        guard block.slots[place].usedIn != generation else { return }
        block.slots[place].usedIn = generation
        countUse()
    }

    private mutating func countUse() {
        usedInGeneration += 1
        guard usedInGeneration >= max(1, capacity / 2) else { return }
        usedInGeneration = 0
        generation &+= 1
    }

    // MARK: Changes

    /// Inserts or replaces a session.
    /// - Returns: what was replaced or dropped, to be released outside the lock.
    mutating func insert(_ entry: SessionView.Entry, as key: SessionKey) -> SessionFacts? {
        let slot = SessionSlot.retaining(entry, named: key.name, usedIn: generation)
        if let place = place(of: key) {
            let usedIn = block.slots[place].usedIn
            let old = block.slots[place].facts
            block.slots[place] = slot
            if usedIn != generation { countUse() }
            return old?.takeRetainedValue()
        }
        let dropped = count >= capacity ? dropOldest() : nil
        if (count + 1) * 8 > block.count * 5 { grow() }
        Self.settle(slot, at: key.hash, in: block)
        count += 1
        countUse()
        return dropped
    }

    /// Removes a session.
    /// - Returns: its facts, to be released outside the lock.
    mutating func remove(_ key: SessionKey) -> SessionFacts? {
        guard let place = place(of: key) else { return nil }
        return remove(at: place)
    }

    /// Removes all sessions.
    /// - Returns: the old block, to be released outside the lock, which takes some time.
    mutating func removeAll() -> SlotBlock {
        let old = block
        block = SlotBlock(count: Self.smallest)
        count = 0
        hand = 0
        return old
    }

    private static func settle(_ slot: SessionSlot, at hash: UInt64, in block: SlotBlock) {
        var place = block.home(of: hash)
        while !block.isEmpty(place) { place = block.next(after: place) }
        block.slots[place] = slot
    }

    private mutating func remove(at place: Int) -> SessionFacts? {
        let removed = block.slots[place].facts
        var hole = place
        var next = block.next(after: hole)
        while !block.isEmpty(next) {
            // A slot may move up as long as it does not pass the start of its search.
            let home = block.home(of: block.slots[next].id.hash(seed))
            if block.distance(from: home, to: next) >= block.distance(from: hole, to: next) {
                block.slots[hole] = block.slots[next]
                hole = next
            }
            next = block.next(after: next)
        }
        block.slots[hole] = .empty
        count -= 1
        return removed?.takeRetainedValue()
    }

    /// Drops the first session found that was used in neither generation, or else the oldest of those examined. Each
    /// search continues where the last one ended.
    private mutating func dropOldest() -> SessionFacts? {
        var oldest: Int?
        var greatestAge: UInt32 = 0
        for step in 0..<block.count {
            if step >= Self.sample, oldest != nil { break }
            let place = hand
            hand = block.next(after: place)
            guard !block.isEmpty(place) else { continue }
            let age = generation &- block.slots[place].usedIn
            if oldest == nil || age > greatestAge {
                oldest = place
                greatestAge = age
            }
            if age >= 2 {
                // The slot that moves up to this place is examined next.
                hand = place
                break
            }
        }
        guard let oldest else { return nil }
        return remove(at: oldest)
    }

    /// Doubles the number of slots. The largest table has 65,536, which are 8 MiB; growing to that size takes some
    /// milliseconds.
    private mutating func grow() {
        let larger = SlotBlock(count: block.count * 2)
        for place in 0..<block.count where !block.isEmpty(place) {
            let slot = block.slots[place]
            Self.settle(slot, at: slot.id.hash(seed), in: larger)
            // The reference has been moved to the new slot.
            block.slots[place].facts = nil
        }
        block = larger
    }
}
