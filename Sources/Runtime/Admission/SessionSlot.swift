import StateSurface

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A session in the table: two adjacent cache lines with everything that is needed to decide on a request.
///
/// It consists of plain bytes, which the table may move. It must be used under the table's lock only, because its
/// reference is counted once, for the table.
struct SessionSlot: Sendable {
    // The first cache line: the session's id and its times.
    var id: PackedName
    /// nil in an empty slot.
    var facts: Unmanaged<SessionFacts>?
    var times: SessionTimes
    // The second cache line: the owner.
    var user: PackedName
    var tenant: PackedTenant
    /// The generation of the table in which it was last used.
    var usedIn: UInt32
    var state: StoredSessionState

    static var empty: Self {
        Self(
            id: .absent, facts: nil, times: SessionTimes(), user: .absent, tenant: .absent, usedIn: 0, state: .ended)
    }

    /// A slot with a retained reference to the facts, which must be released.
    static func retaining(_ entry: SessionView.Entry, named id: PackedName, usedIn: UInt32) -> Self {
        Self(
            id: id, facts: Unmanaged.passRetained(entry.facts), times: entry.times,
            user: entry.facts.userID.map { PackedName($0) } ?? .absent,
            tenant: entry.facts.tenantID.map { PackedTenant($0) } ?? .absent,
            usedIn: usedIn, state: entry.facts.state)
    }

    /// Whether the session is this user's, compared byte for byte.
    func isOwned(by asked: PackedOwner) -> Bool {
        guard user.words == asked.user.words, tenant.words == asked.tenant.words else { return false }
        guard !asked.isWhole else { return true }
        guard let facts = facts?.takeUnretainedValue() else { return false }
        return asked.owner.owns(tenantID: facts.tenantID, userID: facts.userID)
    }
}

/// An owner in the form in which slots are compared.
struct PackedOwner: Sendable {
    let owner: SessionOwner
    let user: PackedName
    let tenant: PackedTenant

    init(_ owner: SessionOwner) {
        self.owner = owner
        self.user = PackedName(owner.userID)
        self.tenant = PackedTenant(owner.tenantID)
    }

    /// Whether the packed names contain the whole owner.
    var isWhole: Bool { user.isWhole && tenant.isWhole }
}

/// A block of memory with slots, which are empty at first. Their references are released with the block.
///
/// Large blocks use huge pages, because with small ones most accesses to random slots miss the TLB.
// @unchecked: the slots are used only under the lock of the table that owns the block.
final class SlotBlock: @unchecked Sendable {
    /// The number of slots, a power of two.
    let count: Int
    let slots: UnsafeMutablePointer<SessionSlot>

    private static let hugePage = 2 << 20
    /// The alignment in bytes: two cache lines, so that no slot extends over three.
    private static let linePair = 128

    /// - Parameter count: a power of two.
    init(count: Int) {
        let bytes = count * MemoryLayout<SessionSlot>.stride
        let isHuge = bytes >= Self.hugePage
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: bytes, alignment: isHuge ? Self.hugePage : Self.linePair)
        #if os(Linux)
        // Without huge pages it works as well, but more slowly.
        if isHuge { _ = madvise(memory, bytes, Int32(MADV_HUGEPAGE)) }
        #endif
        self.count = count
        self.slots = memory.initializeMemory(as: SessionSlot.self, repeating: SessionSlot.empty, count: count)
    }

    deinit {
        for place in 0..<count { slots[place].facts?.release() }
        UnsafeMutableRawPointer(slots).deallocate()
    }

    /// The slot at which the search for a name begins.
    func home(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (count &- 1) }

    /// The next slot to search.
    func next(after place: Int) -> Int { (place &+ 1) & (count &- 1) }

    /// The distance from one slot to another, with wrap-around.
    func distance(from start: Int, to place: Int) -> Int { (place &- start) & (count &- 1) }

    func isEmpty(_ place: Int) -> Bool { slots[place].facts == nil }
}
