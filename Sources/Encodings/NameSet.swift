/// The names of one object: a handful is compared one by one; more go into a hash table so that the cost stays linear.
struct NameSet {
    /// So many names are compared one by one.
    static let linearLimit = 16

    /// Places in the list of members, counted from one, by hash; empty below the limit. Swift's hash has a seed that
    /// nobody outside knows, so no list of names is slower than another.
    private var table: [UInt32] = []
    /// One bit for each length, first and last letter seen: most names are new at a glance.
    private var glance: UInt64 = 0

    /// False if `name`, which is to be the next member, was there already.
    mutating func insert(
        _ name: (text: String, mark: UInt64), into members: [JSONObject.Member]
    ) -> Bool {
        guard table.isEmpty else { return insertHashed(name.text, into: members) }
        let (name, bit) = name
        defer { glance |= bit }
        guard glance & bit != 0 else { return true }
        for index in members.indices where members[index].name.hasSameBytes(as: name) { return false }
        return true
    }

    /// Goes over to hashing, with room for `capacity` names.
    mutating func hash(_ members: [JSONObject.Member], capacity: Int) {
        let room = UInt(max(capacity, members.count + 1))
        table = [UInt32](repeating: 0, count: 1 << (UInt.bitWidth - (room * 2).leadingZeroBitCount))
        for index in members.indices {
            if let place = freePlace(members[index].name, members) { table[place] = UInt32(index + 1) }
        }
    }

    private mutating func insertHashed(_ name: String, into members: [JSONObject.Member]) -> Bool {
        if (members.count + 1) * 2 > table.count { hash(members, capacity: members.count * 2) }
        guard let place = freePlace(name, members) else { return false }
        table[place] = UInt32(members.count + 1)
        return true
    }

    /// Where `name` would be put; nil if it is there.
    private func freePlace(_ name: String, _ members: [JSONObject.Member]) -> Int? {
        var hasher = Hasher()
        ByteName(name).hash(into: &hasher)
        var place = hasher.finalize() & (table.count - 1)
        while table[place] != 0 {
            if members[Int(table[place]) - 1].name.hasSameBytes(as: name) { return nil }
            place = (place + 1) & (table.count - 1)
        }
        return place
    }

    /// The bit of a name; the same for the same bytes, however they were escaped.
    static func mark(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        guard let first = bytes.first, let last = bytes.last else { return 1 }
        return 1 &<< (UInt64(first) &* 5 &+ UInt64(last) &* 11 &+ UInt64(bytes.count))
    }
}
