/// The names of one object, to find duplicates. Up to ``linearLimit`` names are compared one by one; more are kept in a
/// hash table, so that the cost of an object stays linear.
struct MemberNames {
    /// The number of names up to which they are compared one by one.
    static let linearLimit = 16

    /// The indices of members plus one, by hash; empty below the limit. Swift's hash has a random seed, so a sender
    /// cannot choose names that collide.
    private var table: [UInt32] = []
    /// A bit for each combination of length, first and last byte seen. A name whose bit is not set is new, which needs
    /// no comparison.
    private var glance: UInt64 = 0
    /// The number of names for which the table was last sized.
    private(set) var capacity = 0

    /// Adds the name of the next member. False if an earlier member has it.
    ///
    /// - Parameters:
    ///   - name: the name as it stands in the text, without escapes.
    ///   - members: the members of all open objects, those of this object last.
    ///   - base: the index at which those of this object begin.
    ///   - text: the JSON text.
    @inline(__always)
    mutating func insert(
        _ name: UnsafeBufferPointer<UInt8>, among members: [JSONIndex.Member], from base: Int,
        in text: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard table.isEmpty else { return insertHashed(name, among: members, from: base, in: text) }
        let bit = Self.mark(name)
        defer { glance |= bit }
        guard glance & bit != 0 else { return true }
        for index in base..<members.count where members[index].name.place.spells(name, in: text) { return false }
        return true
    }

    /// Adds a name that was written with escapes. From the first such name on a hash table is used, because comparing
    /// one by one would unescape the same names again and again.
    mutating func insert(
        unescaped name: UnsafeBufferPointer<UInt8>, among members: [JSONIndex.Member], from base: Int,
        in text: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        if table.isEmpty { hash(members, from: base, capacity: 4, in: text) }
        return insertHashed(name, among: members, from: base, in: text)
    }

    /// Makes the hash table, with room for `capacity` names, and enters the names so far.
    mutating func hash(
        _ members: [JSONIndex.Member], from base: Int, capacity: Int, in text: UnsafeBufferPointer<UInt8>
    ) {
        self.capacity = max(capacity, members.count - base + 1)
        let room = UInt(self.capacity)
        table = [UInt32](repeating: 0, count: 1 << (UInt.bitWidth - (room * 2).leadingZeroBitCount))
        for index in base..<members.count {
            let place = members[index].name.place.withSpelling(in: text) { name in
                freePlace(name, members, from: base, in: text)
            }
            if let place { table[place] = UInt32(index - base + 1) }
        }
    }

    private mutating func insertHashed(
        _ name: UnsafeBufferPointer<UInt8>, among members: [JSONIndex.Member], from base: Int,
        in text: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        let count = members.count - base
        if (count + 1) * 2 > table.count { hash(members, from: base, capacity: count * 2, in: text) }
        guard let place = freePlace(name, members, from: base, in: text) else { return false }
        table[place] = UInt32(count + 1)
        return true
    }

    /// The free slot for a name; nil if the name is in the table.
    private func freePlace(
        _ name: UnsafeBufferPointer<UInt8>, _ members: [JSONIndex.Member], from base: Int,
        in text: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(name))
        var place = hasher.finalize() & (table.count - 1)
        while table[place] != 0 {
            if members[base + Int(table[place]) - 1].name.place.spells(name, in: text) { return nil }
            place = (place + 1) & (table.count - 1)
        }
        return place
    }

    /// The bit of a name in `glance`.
    @inline(__always)
    private static func mark(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        guard let first = bytes.first, let last = bytes.last else { return 1 }
        return 1 &<< (UInt64(first) &* 5 &+ UInt64(last) &* 11 &+ UInt64(bytes.count))
    }
}
