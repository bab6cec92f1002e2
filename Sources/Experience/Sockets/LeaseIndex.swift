/// The leases under each name of one kind: sessions, tokens, families or subjects.
///
/// Nearly every name has one lease, and that takes no room of its own.
struct LeaseIndex {
    private enum Members {
        case one(LeaseTable.ID)
        case many(Set<LeaseTable.ID>)
    }

    private var members: [String: Members] = [:]

    var keys: some Collection<String> { members.keys }

    subscript(key: String) -> [LeaseTable.ID] {
        switch members[key] {
        case nil: []
        case .one(let id): [id]
        case .many(let ids): Array(ids)
        }
    }

    mutating func insert(_ id: LeaseTable.ID, under key: String?) {
        guard let key else { return }
        // Taken out while it grows, so that the set is not copied.
        switch members.updateValue(.one(id), forKey: key) {
        case nil: break
        case .one(let other): members[key] = .many([other, id])
        case .many(var ids):
            ids.insert(id)
            members[key] = .many(ids)
        }
    }

    mutating func remove(_ id: LeaseTable.ID, under key: String?) {
        guard let key, let old = members[key] else { return }
        switch old {
        case .one(let only): if only == id { members[key] = nil }
        case .many: removeFromSet(id, key)
        }
    }

    private mutating func removeFromSet(_ id: LeaseTable.ID, _ key: String) {
        guard case .many(var ids)? = members.updateValue(.one(id), forKey: key) else { return }
        ids.remove(id)
        members[key] = ids.isEmpty ? nil : .many(ids)
    }
}
