/// A dictionary that forgets what was not asked for lately, in constant time.
///
/// Two generations: what is used moves to the young one; when that is full it becomes the old one, and the one that
/// was old goes.
struct BoundedMemory<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let half: Int

    init(capacity: Int) {
        self.half = max(1, capacity / 2)
    }

    var count: Int { self.young.count + self.old.count }

    subscript(key: Key) -> Value? {
        mutating get {
            if let value = self.young[key] { return value }
            guard let value = self.old.removeValue(forKey: key) else { return nil }
            self.insert(value, for: key)
            return value
        }
        set {
            self.old[key] = nil
            if let newValue {
                self.insert(newValue, for: key)
            } else {
                self.young[key] = nil
            }
        }
    }

    mutating func remove(_ key: Key) -> Value? {
        self.young.removeValue(forKey: key) ?? self.old.removeValue(forKey: key)
    }

    mutating func removeAll() {
        self.young = [:]
        self.old = [:]
    }

    private mutating func insert(_ value: Value, for key: Key) {
        if self.young.count >= self.half, self.young[key] == nil {
            self.old = self.young
            self.young = [:]
        }
        self.young[key] = value
    }
}
