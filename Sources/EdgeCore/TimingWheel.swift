/// A hashed timing wheel: what is put in for a moment comes out when that moment is over.
///
/// Putting something in costs the same however much is in the wheel, and nothing is ever taken out: what no longer waits
/// is passed by when its slot comes round. The wheel knows no clock. Times are whole numbers of one unit, the caller's,
/// and the caller says how late it is: ``turn(to:)``, then ``takeDue()`` until nothing more comes out.
package struct TimingWheel<Item> {
    /// How wide a slot of the gateway's wheels is, in ms: what is due comes out up to two slots late, and never early.
    package static var slotMilliseconds: Int64 { 50 }
    /// How many slots they have: the horizon is 102.4 s.
    package static var slotCount: Int64 { 2048 }
    /// By how many slots a clock may go back before the wheel goes back with it.
    private static var patience: Int64 { 20 }

    private let slotWidth: Int64
    private var slots: [[Item]] = Array(repeating: [], count: Int(slotCount))
    /// The slot that time is in, and the last one that was emptied.
    package private(set) var hand: Int64
    private var emptied: Int64

    /// - Parameters:
    ///   - unitsPerMillisecond: how many of the caller's units a millisecond has.
    ///   - now: the time at the start.
    package init(unitsPerMillisecond: Int64, now: Int64) {
        slotWidth = Self.slotMilliseconds * unitsPerMillisecond
        hand = now / slotWidth
        emptied = hand
    }

    /// The number of the slot in which something that is due then is put: the one behind the moment.
    ///
    /// What lies beyond the horizon is put in the farthest slot. It comes out of that too early, and its owner puts it in
    /// again.
    package func slot(for due: Int64) -> Int64 {
        min(max(due / slotWidth, hand) + 1, hand + Self.slotCount - 1)
    }

    package mutating func insert(_ item: Item, slot: Int64) {
        slots[index(of: slot)].append(item)
    }

    package mutating func insert(_ item: Item, due: Int64) { insert(item, slot: slot(for: due)) }

    /// Moves the hand. A clock that was set back takes the wheel with it: what is in it comes out too early, as behind
    /// the horizon, and not too late.
    package mutating func turn(to now: Int64) {
        let current = now / slotWidth
        if current > hand {
            hand = current
        } else if current < hand - Self.patience {
            hand = current
            emptied = current
        }
    }

    /// What lies in the next slot that time has passed, and that is not empty; nil when there is none left.
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
