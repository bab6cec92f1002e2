/// A dictionary of bounded weight that forgets what was not asked for lately, and what is past its end.
///
/// Entries lie in an array, around which a hand moves when there is no room (the CLOCK algorithm, also called second
/// chance): an entry that was asked for since the hand last came by stays, and any other goes. So all of the capacity
/// is used, and what is asked for once makes room before what is asked for often. An entry needs no links to others, as
/// it would in a list ordered by use (LRU), and being asked for moves nothing.
///
/// Not thread-safe: confined to an event loop, or kept under a lock.
///
/// Public and inlinable, because the compiler makes code for the types of another module's keys and values only of what
/// is public there. Without it, each lookup would ask the runtime for the metadata of its types.
public struct BoundedCache<Key: Hashable, Value> {
    /// What was put in, and until when it may be used.
    public struct Entry {
        /// What was put in.
        public let value: Value
        /// In the caller's clock: the entry is found while this is later than the time asked with.
        public let until: Int64
        @usableFromInline
        let weight: Int

        @inlinable
        init(value: Value, until: Int64, weight: Int) {
            self.value = value
            self.until = until
            self.weight = weight
        }
    }

    @usableFromInline
    struct Slot {
        @usableFromInline
        let key: Key
        @usableFromInline
        var entry: Entry
        /// Whether it was asked for since the hand last came by.
        @usableFromInline
        var isRecent = false

        @inlinable
        init(key: Key, entry: Entry) {
            self.key = key
            self.entry = entry
        }
    }

    /// Where in `slots` each key is.
    @usableFromInline
    var places: [Key: Int] = [:]
    @usableFromInline
    var slots: [Slot] = []
    @usableFromInline
    var weight = 0
    /// The next slot that may have to make room.
    @usableFromInline
    var hand = 0
    /// The next slot that is looked at for being past its end.
    @usableFromInline
    var sweep = 0
    @usableFromInline
    let capacity: Int

    /// - Parameter capacity: the weight of all entries together; their number, where each has the weight 1. At least 2.
    @inlinable
    public init(capacity: Int) { self.capacity = max(2, capacity) }

    /// How many entries there are, those past their end among them.
    @inlinable
    public var count: Int { slots.count }

    /// What was put in for a key.
    ///
    /// - Parameter now: an entry whose end is not later than this is forgotten.
    @inlinable
    public mutating func entry(for key: Key, at now: Int64 = .min) -> Entry? {
        guard let place = places[key] else { return nil }
        guard now < slots[place].entry.until else {
            remove(at: place)
            return nil
        }
        // Most have been asked for before: they are only read.
        if !slots[place].isRecent { slots[place].isRecent = true }
        return slots[place].entry
    }

    /// What was put in for a key; see ``entry(for:at:)``.
    @inlinable
    public mutating func value(for key: Key, at now: Int64 = .min) -> Value? { entry(for: key, at: now)?.value }

    /// Puts an entry in, in place of one of the same key.
    ///
    /// - Parameters:
    ///   - end: until when it may be used; for ever by default.
    ///   - weight: its share of the capacity, at least 1. What is heavier than half of it is not kept.
    ///   - now: the time, if entries that are past their end shall make room before the capacity is reached. About as
    ///     many are kept then as come in twice the time for which they may be used.
    @inlinable
    public mutating func insert(
        _ value: Value, for key: Key, until end: Int64 = .max, weight: Int = 1, now: Int64 = .min
    ) {
        if now > .min { sweep(at: now) }
        let entry = Entry(value: value, until: end, weight: max(1, weight))
        guard entry.weight <= capacity / 2 else {
            remove(key)
            return
        }
        if let place = places[key] {
            self.weight += entry.weight - slots[place].entry.weight
            slots[place].entry = entry
        } else {
            self.weight += entry.weight
            places[key] = slots.count
            slots.append(Slot(key: key, entry: entry))
        }
        while self.weight > capacity { evict(besides: key) }
    }

    /// Forgets a key.
    @discardableResult
    @inlinable
    public mutating func remove(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        return remove(at: place).entry.value
    }

    /// Forgets everything, and gives its memory back.
    @inlinable
    public mutating func removeAll() {
        places = [:]
        slots = []
        weight = 0
        hand = 0
        sweep = 0
    }

    /// Fills the gap with the last slot.
    @discardableResult
    @inlinable
    mutating func remove(at place: Int) -> Slot {
        slots.swapAt(place, slots.count - 1)
        let gone = slots.removeLast()
        places[gone.key] = nil
        weight -= gone.entry.weight
        if place < slots.count { places[slots[place].key] = place }
        return gone
    }

    /// The most slots that the hand passes at a time, so that one insertion can't take long.
    @inlinable
    static var reach: Int { 64 }

    /// Forgets one entry.
    ///
    /// - Parameter key: the key of one that stays, of at least two.
    @inlinable
    mutating func evict(besides key: Key) {
        for passed in 0... {
            if hand >= slots.count { hand = 0 }
            let isKept = slots[hand].key == key
            if !isKept, passed >= Self.reach || !slots[hand].isRecent { break }
            slots[hand].isRecent = false
            hand += 1
        }
        remove(at: hand)
        // What has come here from the end is mostly new: its turn is when the hand comes by again.
        hand += 1
    }

    /// Forgets those of the next slots that are past their end. Two for each insertion: so the way around all of them
    /// takes half as many insertions as there are slots.
    @inlinable
    mutating func sweep(at now: Int64) {
        for _ in 0..<2 {
            if sweep >= slots.count { sweep = 0 }
            guard sweep < slots.count else { return }
            if now >= slots[sweep].entry.until { remove(at: sweep) } else { sweep += 1 }
        }
    }
}

extension BoundedCache.Entry: Sendable where Key: Sendable, Value: Sendable {}
extension BoundedCache.Slot: Sendable where Key: Sendable, Value: Sendable {}
extension BoundedCache: Sendable where Key: Sendable, Value: Sendable {}
