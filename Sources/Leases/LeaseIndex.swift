/// The leases by session, token, family or subject.
///
/// Most names have one lease, which needs no separate allocation.
struct LeaseIndex {
    /// A class, so that a large set is changed in place and not copied.
    private final class Many {
        var ids: Set<LeaseTable.ID>
        init(_ ids: Set<LeaseTable.ID>) { self.ids = ids }
    }

    private enum Members {
        case one(LeaseTable.ID)
        case many(Many)
    }

    private var members: [String: Members] = [:]

    var keys: some Collection<String> { members.keys }

    subscript(key: String) -> [LeaseTable.ID] {
        switch members[key] {
        case nil: []
        case .one(let id): [id]
        case .many(let many): Array(many.ids)
        }
    }

    mutating func insert(_ id: LeaseTable.ID, under key: String?) {
        // Most names are new: then this is the one look at the table.
        guard let key, let before = members.updateValue(.one(id), forKey: key) else { return }
        switch before {
        case .one(let other): members[key] = .many(Many([other, id]))
        case .many(let many):
            many.ids.insert(id)
            members[key] = before
        }
    }

    mutating func remove(_ id: LeaseTable.ID, under key: String?) {
        guard let key, let place = members.index(forKey: key) else { return }
        switch members.values[place] {
        case .one(let only): if only == id { members.remove(at: place) }
        case .many(let many):
            many.ids.remove(id)
            if many.ids.isEmpty { members.remove(at: place) }
        }
    }
}
