/// A hashed timing wheel: an item that is inserted for a moment comes out when that moment is over.
///
/// Inserting costs the same no matter how full the wheel is. Items are never removed: the owner ignores one that is no
/// longer wanted when its slot comes round. The wheel has no clock. Times are whole numbers in a unit of the caller's
/// choice, and the caller says what time it is: ``turn(to:)``, then ``takeDue()`` until it returns nil.
package struct TimingWheel<Item> {
    /// How wide a slot of the gateway's wheels is, in ms: an item comes out up to two slots late, and never early.
    package static var slotMilliseconds: Int64 { 50 }
    /// How many slots the wheels have: the horizon is 102.4 s.
    package static var slotCount: Int64 { 2048 }
    /// By how many slots the clock may go back before the wheel goes back with it.
    private static var patience: Int64 { 20 }

    private let slotWidth: Int64
    private var slots: [[Item]] = Array(repeating: [], count: Int(slotCount))
    /// The slot that time is in, and the last one that was emptied.
    package private(set) var hand: Int64
    private var emptied: Int64

    /// - Parameters:
    ///   - unitsPerMillisecond: how many of the caller's units make a millisecond.
    ///   - now: the time at the start.
    package init(unitsPerMillisecond: Int64, now: Int64) {
        slotWidth = Self.slotMilliseconds * unitsPerMillisecond
        hand = now / slotWidth
        emptied = hand
    }

    /// The number of the slot for an item that is due at this time: the one after it.
    ///
    /// An item that is due beyond the horizon goes into the farthest slot. It comes out too early, and its owner
    /// inserts it again.
    package func slot(for due: Int64) -> Int64 {
        min(max(due / slotWidth, hand) + 1, hand + Self.slotCount - 1)
    }

    /// Puts an item into a slot.
    package mutating func insert(_ item: Item, slot: Int64) {
        slots[index(of: slot)].append(item)
    }

    /// Puts an item into the slot for this time.
    package mutating func insert(_ item: Item, due: Int64) { insert(item, slot: slot(for: due)) }

    /// Moves the hand to the current time. If the clock was set back, the wheel goes back with it: its items then come
    /// out too early, like those beyond the horizon, and not too late.
    package mutating func turn(to now: Int64) {
        let current = now / slotWidth
        if current > hand {
            hand = current
        } else if current < hand - Self.patience {
            hand = current
            emptied = current
        }
    }

    /// Takes the items of the next slot that is over and not empty; nil when there is none left.
    package mutating func takeDue() -> [Item]? {
        emptied = max(emptied, hand - Self.slotCount)
        while emptied < hand {
            emptied += 1
            let place = index(of: emptied)
            guard !slots[place].isEmpty else { continue }
            let items = slots[place]
            slots[place] = []
            return items
        }
        return nil
    }

    private func index(of slot: Int64) -> Int {
        let place = Int(slot % Self.slotCount)
        return place < 0 ? place + slots.count : place
    }
}
