/// The names of one object: a handful is compared one by one; more go into a hash table so that the cost stays linear.
struct NameSet {
    /// So many names are compared one by one.
    static let linearLimit = 16

    /// Places among the members, counted from one, by hash; empty below the limit. Swift's hash has a seed that
    /// nobody outside knows, so no list of names is slower than another.
    private var table: [UInt32] = []
    /// One bit for each length, first and last letter seen: most names are new at a glance.
    private var glance: UInt64 = 0
    /// For so many names the table was made last.
    private(set) var capacity = 0

    /// False if a name, which is to be the next member's, was there already.
    ///
    /// - Parameters:
    ///   - name: the name as it stands in the text.
    ///   - members: members of more than this object, this one's last.
    ///   - base: where this one's begin.
    ///   - text: the text they were read from.
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

    /// The same for a name that was written with escapes. From the first such name on there is a table: comparing one
    /// by one, each comparison would undo the escapes again.
    mutating func insert(
        unescaped name: UnsafeBufferPointer<UInt8>, among members: [JSONIndex.Member], from base: Int,
        in text: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        if table.isEmpty { hash(members, from: base, capacity: 4, in: text) }
        return insertHashed(name, among: members, from: base, in: text)
    }

    /// Goes over to hashing, with room for `capacity` names.
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

    /// Where a name would be put; nil if it is there.
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

    /// The bit of a name.
    @inline(__always)
    private static func mark(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        guard let first = bytes.first, let last = bytes.last else { return 1 }
        return 1 &<< (UInt64(first) &* 5 &+ UInt64(last) &* 11 &+ UInt64(bytes.count))
    }
}
