/// A dictionary that forgets what was not asked for lately, in constant time.
///
/// Two generations: what is used moves to the young one; when that is full it becomes the old one, and the one that
/// was old goes.
struct BoundedMemory<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Key and value side by side: a dictionary keeps them in two places, and each is a wait for memory.
    private struct Slot: Hashable, Sendable {
        let key: Key
        /// nil in what is only asked with.
        var value: Value?

        func hash(into hasher: inout Hasher) { self.key.hash(into: &hasher) }
        static func == (a: Self, b: Self) -> Bool { a.key == b.key }
    }

    private var young: Set<Slot> = []
    private var old: Set<Slot> = []
    private let half: Int

    init(capacity: Int) {
        self.half = max(1, capacity / 2)
    }

    var count: Int { self.young.count + self.old.count }

    subscript(key: Key) -> Value? {
        mutating get {
            let asked = Slot(key: key)
            if let place = self.young.firstIndex(of: asked) { return self.young[place].value }
            guard let found = self.old.remove(asked) else { return nil }
            self.insert(found)
            return found.value
        }
        set {
            let slot = Slot(key: key, value: newValue)
            self.old.remove(slot)
            if newValue == nil { self.young.remove(slot) } else { self.insert(slot) }
        }
    }

    mutating func remove(_ key: Key) -> Value? {
        let asked = Slot(key: key)
        return (self.young.remove(asked) ?? self.old.remove(asked))?.value
    }

    mutating func removeAll() {
        self.young = []
        self.old = []
    }

    private mutating func insert(_ slot: Slot) {
        if self.young.count >= self.half, !self.young.contains(slot) {
            self.old = self.young
            self.young = []
        }
        self.young.update(with: slot)
    }
}
