/// A dictionary of bounded weight that forgets what was not asked for lately, and what is past its end.
///
/// Two generations: what is put in or asked for is in the young one; when that holds half of what fits, it becomes the
/// old one, and the one that was old goes. So an entry outlives at least half the capacity of other entries that are used
/// after it, every operation is one or two lookups, and an entry needs no links to others, as it would in a list ordered
/// by use (LRU): this approximates that order with a fraction of its memory and work.
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
    var young: [Key: Entry] = [:]
    @usableFromInline
    var old: [Key: Entry] = [:]
    @usableFromInline
    var youngWeight = 0
    /// No entry of the young generation, and of the old one, may be used at this time or later.
    @usableFromInline
    var youngEnd = Int64.min
    @usableFromInline
    var oldEnd = Int64.min
    @usableFromInline
    let half: Int

    /// - Parameter capacity: the weight of all entries together; their number, where each has the weight 1. At least 2.
    @inlinable
    public init(capacity: Int) { half = max(1, capacity / 2) }

    /// How many entries there are, those past their end among them.
    @inlinable
    public var count: Int { young.count + old.count }

    /// What was put in for a key.
    ///
    /// - Parameter now: an entry whose end is not later than this is forgotten.
    @inlinable
    public mutating func entry(for key: Key, at now: Int64 = .min) -> Entry? {
        // The hot path of the event loops ends here.
        if let entry = young[key], now < entry.until { return entry }
        return entryNotYoung(key, at: now)
    }

    /// What was put in for a key; see ``entry(for:at:)``.
    @inlinable
    public mutating func value(for key: Key, at now: Int64 = .min) -> Value? { entry(for: key, at: now)?.value }

    /// What was put in for a key that is not among the young entries, or past its end there.
    @inlinable
    mutating func entryNotYoung(_ key: Key, at now: Int64) -> Entry? {
        if let entry = young[key] {
            guard now >= entry.until else { return entry }
            remove(key)
            return nil
        }
        guard !old.isEmpty, let entry = old.removeValue(forKey: key), now < entry.until else { return nil }
        put(entry, for: key)
        return entry
    }

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
        remove(key)
        guard weight <= half else { return }
        if now > .min, now >= oldEnd, !young.isEmpty { turn() }
        put(Entry(value: value, until: end, weight: max(1, weight)), for: key)
    }

    /// Forgets a key.
    @discardableResult
    @inlinable
    public mutating func remove(_ key: Key) -> Value? {
        if let removed = young.removeValue(forKey: key) {
            youngWeight -= removed.weight
            return removed.value
        }
        return old.removeValue(forKey: key)?.value
    }

    /// Forgets everything, and gives its memory back.
    @inlinable
    public mutating func removeAll() {
        young = [:]
        old = [:]
        youngWeight = 0
        youngEnd = .min
        oldEnd = .min
    }

    /// - Parameter key: one that is in neither generation.
    @inlinable
    mutating func put(_ entry: Entry, for key: Key) {
        if youngWeight > half - entry.weight { turn() }
        young[key] = entry
        youngWeight += entry.weight
        youngEnd = max(youngEnd, entry.until)
    }

    /// The young generation becomes the old one, which goes.
    @inlinable
    mutating func turn() {
        old = young
        oldEnd = youngEnd
        young = [:]
        youngWeight = 0
        youngEnd = .min
    }
}

extension BoundedCache.Entry: Sendable where Key: Sendable, Value: Sendable {}
extension BoundedCache: Sendable where Key: Sendable, Value: Sendable {}
