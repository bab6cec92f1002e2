import Encodings
import StateSurface

/// A session id that is looked for.
struct SessionKey: Sendable {
    let name: PackedName
    let hash: UInt64
    /// The whole id where the name is not; else empty.
    private let text: String

    init(_ id: String, seed: NameSeed) {
        let name = PackedName(id)
        self.name = name
        self.hash = name.hash(seed)
        self.text = name.isWhole ? "" : id
    }

    /// Whether a slot that is not empty is this session's.
    func isKey(of slot: SessionSlot) -> Bool {
        guard slot.id.words == self.name.words else { return false }
        guard !self.name.isWhole else { return true }
        guard let facts = slot.facts?.takeUnretainedValue() else { return false }
        return facts.id.hasSameBytes(as: self.text)
    }
}

/// Sessions by their ids, as many as there is room for; what was not asked for lately goes first.
///
/// Open addressing with linear probing in one block of memory. Nothing is left behind where a slot was emptied: what
/// lies further from its home moves up. To be kept in one place under a lock: a copy would share the slots.
///
/// In place of a dictionary, because a random lookup among a million takes half as long: what decides about a request lies
/// in the slot, and in a dictionary of strings it lies in four places (`docs/performance.md` has both, measured).
struct SessionTable: Sendable {
    private static let smallest = 8
    /// How many slots are looked at to find one that may go.
    private static let sample = 64

    private(set) var count = 0
    private var block = SlotBlock(count: Self.smallest)
    private let capacity: Int
    private let seed: NameSeed
    /// Goes up by one whenever half the capacity was asked for. So, when the table is full, there is always something
    /// that was asked for neither in this generation nor in the one before.
    private var generation: UInt32 = 0
    private var usedInGeneration = 0
    /// Where the next search for something to drop begins.
    private var hand = 0

    /// - Parameter seed: the one that the keys are made with.
    init(capacity: Int, seed: NameSeed) {
        self.capacity = max(1, capacity)
        self.seed = seed
    }

    /// How many slots there are, empty ones too.
    var room: Int { self.block.count }

    // MARK: Asking

    /// The slot of a session, whose use is noted. What it refers to is good as long as the lock is held.
    mutating func use(_ key: SessionKey) -> SessionSlot? {
        guard let place = self.place(of: key) else { return nil }
        self.noteUse(at: place)
        return self.block.slots[place]
    }

    /// Moves the last use of a session forward.
    /// - Returns: whether the use is worth writing down: not when one was noted within `resolution`.
    mutating func touch(_ key: SessionKey, at now: Milliseconds, resolution: Milliseconds) -> Bool {
        guard let place = self.place(of: key) else { return true }
        self.noteUse(at: place)
        let last = self.block.slots[place].times.lastSeenAt
        guard now.subtractingReportingOverflow(last).partialValue >= resolution else { return false }
        self.block.slots[place].times.lastSeenAt = now
        return true
    }

    private func place(of key: SessionKey) -> Int? {
        var place = self.block.home(of: key.hash)
        // There are always empty slots, so this ends.
        while !self.block.isEmpty(place) {
            if key.isKey(of: self.block.slots[place]) { return place }
            place = self.block.next(after: place)
        }
        return nil
    }

    private mutating func noteUse(at place: Int) {
        guard self.block.slots[place].usedIn != self.generation else { return }
        self.block.slots[place].usedIn = self.generation
        self.countUse()
    }

    private mutating func countUse() {
        self.usedInGeneration += 1
        guard self.usedInGeneration >= max(1, self.capacity / 2) else { return }
        self.usedInGeneration = 0
        self.generation &+= 1
    }

    // MARK: Changing

    /// Puts a session into its slot.
    /// - Returns: what had to go for it: the same session as it was, or another one. Let go of it outside the lock.
    mutating func insert(_ entry: SessionView.Entry, as key: SessionKey) -> SessionFacts? {
        let slot = SessionSlot.retaining(entry, named: key.name, usedIn: self.generation)
        if let place = self.place(of: key) {
            let usedIn = self.block.slots[place].usedIn
            let old = self.block.slots[place].facts
            self.block.slots[place] = slot
            if usedIn != self.generation { self.countUse() }
            return old?.takeRetainedValue()
        }
        let dropped = self.count >= self.capacity ? self.dropOldest() : nil
        if (self.count + 1) * 8 > self.block.count * 5 { self.grow() }
        Self.settle(slot, at: key.hash, in: self.block)
        self.count += 1
        self.countUse()
        return dropped
    }

    /// - Returns: what was known of the session. Let go of it outside the lock.
    mutating func remove(_ key: SessionKey) -> SessionFacts? {
        guard let place = self.place(of: key) else { return nil }
        return self.remove(at: place)
    }

    /// - Returns: the block of all that was there, which takes its time to go. Let go of it outside the lock.
    mutating func removeAll() -> SlotBlock {
        let old = self.block
        self.block = SlotBlock(count: Self.smallest)
        self.count = 0
        self.hand = 0
        return old
    }

    private static func settle(_ slot: SessionSlot, at hash: UInt64, in block: SlotBlock) {
        var place = block.home(of: hash)
        while !block.isEmpty(place) { place = block.next(after: place) }
        block.slots[place] = slot
    }

    private mutating func remove(at place: Int) -> SessionFacts? {
        let removed = self.block.slots[place].facts
        var hole = place
        var next = self.block.next(after: hole)
        while !self.block.isEmpty(next) {
            // It may move up as long as it does not pass its home.
            let home = self.block.home(of: self.block.slots[next].id.hash(self.seed))
            if self.block.distance(from: home, to: next) >= self.block.distance(from: hole, to: next) {
                self.block.slots[hole] = self.block.slots[next]
                hole = next
            }
            next = self.block.next(after: next)
        }
        self.block.slots[hole] = .empty
        self.count -= 1
        return removed?.takeRetainedValue()
    }

    /// Drops the first session found that is older than both generations, or else the oldest of those looked at. Each
    /// search goes on where the last one ended, so that it meets them all in turn.
    private mutating func dropOldest() -> SessionFacts? {
        var oldest: Int?
        var greatestAge: UInt32 = 0
        for step in 0..<self.block.count {
            if step >= Self.sample, oldest != nil { break }
            let place = self.hand
            self.hand = self.block.next(after: place)
            guard !self.block.isEmpty(place) else { continue }
            let age = self.generation &- self.block.slots[place].usedIn
            if oldest == nil || age > greatestAge {
                oldest = place
                greatestAge = age
            }
            if age >= 2 {
                // What moves up to this place is the next to be looked at.
                self.hand = place
                break
            }
        }
        guard let oldest else { return nil }
        return self.remove(at: oldest)
    }

    /// Twice as many slots. The largest table has 65,536 of them, 8 MiB; moving there from half as many takes some
    /// milliseconds.
    private mutating func grow() {
        let larger = SlotBlock(count: self.block.count * 2)
        for place in 0..<self.block.count where !self.block.isEmpty(place) {
            let slot = self.block.slots[place]
            Self.settle(slot, at: slot.id.hash(self.seed), in: larger)
            // The reference has moved with it.
            self.block.slots[place].facts = nil
        }
        self.block = larger
    }
}
