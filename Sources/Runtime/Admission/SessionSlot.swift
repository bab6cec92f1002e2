import StateSurface

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// One session as it lies in a table: two cache lines of the processor, side by side, with all that decides about a
/// request.
///
/// Plain bytes, which the table moves about as it likes. Good under the table's lock alone, for the reference it has
/// counts for the table and for nobody else.
struct SessionSlot: Sendable {
    // The first line: which session it is, and for how long.
    var id: PackedName
    /// nil in an empty slot.
    var facts: Unmanaged<SessionFacts>?
    var times: SessionTimes
    // The second line: who may pass.
    var user: PackedName
    var tenant: PackedTenant
    /// When it was last asked for, in generations of the table.
    var usedIn: UInt32
    var state: StoredSessionState

    static var empty: Self {
        Self(
            id: .absent, facts: nil, times: SessionTimes(), user: .absent, tenant: .absent, usedIn: 0, state: .ended)
    }

    /// A slot that holds on to the facts until somebody releases them.
    static func retaining(_ entry: SessionView.Entry, named id: PackedName, usedIn: UInt32) -> Self {
        Self(
            id: id, facts: Unmanaged.passRetained(entry.facts), times: entry.times,
            user: entry.facts.userID.map { PackedName($0) } ?? .absent,
            tenant: entry.facts.tenantID.map { PackedTenant($0) } ?? .absent,
            usedIn: usedIn, state: entry.facts.state)
    }

    /// Whether the session is this user's, compared byte for byte.
    func isOwned(by asked: PackedOwner) -> Bool {
        guard self.user.words == asked.user.words, self.tenant.words == asked.tenant.words else { return false }
        guard !asked.isWhole else { return true }
        guard let facts = self.facts?.takeUnretainedValue() else { return false }
        return asked.owner.owns(tenantID: facts.tenantID, userID: facts.userID)
    }
}

/// Who asks, ready to be compared with what lies in a slot.
struct PackedOwner: Sendable {
    let owner: SessionOwner
    let user: PackedName
    let tenant: PackedTenant

    init(_ owner: SessionOwner) {
        self.owner = owner
        self.user = PackedName(owner.userID)
        self.tenant = PackedTenant(owner.tenantID)
    }

    /// Whether the packed names are all of the owner.
    var isWhole: Bool { self.user.isWhole && self.tenant.isWhole }
}

/// A block of memory full of slots, which are empty at first. What they hold on to goes with it.
///
/// Large blocks ask for huge pages: with small ones, each look at a random slot first waits for the address of its
/// page.
// @unchecked: the slots are touched under the lock of the one table that has the block.
final class SlotBlock: @unchecked Sendable {
    /// How many there are: a power of two.
    let count: Int
    let slots: UnsafeMutablePointer<SessionSlot>

    private static let hugePage = 2 << 20
    /// Two cache lines, so that no slot takes part in three.
    private static let linePair = 128

    /// - Parameter count: a power of two.
    init(count: Int) {
        let bytes = count * MemoryLayout<SessionSlot>.stride
        let isHuge = bytes >= Self.hugePage
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: bytes, alignment: isHuge ? Self.hugePage : Self.linePair)
        #if os(Linux)
        // Where the system has none to give, small pages do the same more slowly.
        if isHuge { _ = madvise(memory, bytes, Int32(MADV_HUGEPAGE)) }
        #endif
        self.count = count
        self.slots = memory.initializeMemory(as: SessionSlot.self, repeating: SessionSlot.empty, count: count)
    }

    deinit {
        for place in 0..<self.count { self.slots[place].facts?.release() }
        UnsafeMutableRawPointer(self.slots).deallocate()
    }

    /// Where a name is looked for first.
    func home(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (self.count &- 1) }

    /// Where it is looked for next.
    func next(after place: Int) -> Int { (place &+ 1) & (self.count &- 1) }

    /// How far a place lies behind another, round the end.
    func distance(from start: Int, to place: Int) -> Int { (place &- start) & (self.count &- 1) }

    func isEmpty(_ place: Int) -> Bool { self.slots[place].facts == nil }
}
