import Encodings
import StateSurface
import Synchronization

/// All revocations of tokens that have not expired, in memory. A revocation is never withdrawn.
final class Revocations: Sendable {
    private struct Table {
        var tokens: [ByteName: Int64] = [:]
        var families: [ByteName: Int64] = [:]
        /// By subject: which of its tokens are revoked, and when the entry can be removed.
        var subjects: [ByteName: (cut: SubjectCut, expiresAt: Int64)] = [:]
        /// What is in the dictionaries, each once and in no order, so that it can be gone through in portions.
        var names: [(kind: Revocation.Kind, name: ByteName)] = []

        /// When an entry can be removed.
        func end(_ kind: Revocation.Kind, _ name: ByteName) -> Int64? {
            switch kind {
            case .token: tokens[name]
            case .family: families[name]
            case .subject: subjects[name]?.expiresAt
            }
        }

        mutating func remove(_ kind: Revocation.Kind, _ name: ByteName) {
            switch kind {
            case .token: tokens[name] = nil
            case .family: families[name] = nil
            case .subject: subjects[name] = nil
            }
        }
    }

    /// How many entries are looked at under the lock, which every request needs: well below a millisecond's worth.
    static let portion = 1_000

    private let table = Mutex(Table())
    private let moves = Atomic<UInt64>(0)

    /// A counter that increases with every new revocation.
    var generation: UInt64 { moves.load(ordering: .acquiring) }

    func insert(_ revocation: Revocation) { insert(contentsOf: CollectionOfOne(revocation)) }

    func insert(contentsOf revocations: some Sequence<Revocation>) {
        let isNews = table.withLock { table in
            var isNews = false
            for revocation in revocations where Self.add(revocation, to: &table) { isNews = true }
            return isNews
        }
        if isNews { moves.add(1, ordering: .acquiringAndReleasing) }
    }

    private static func add(_ revocation: Revocation, to table: inout Table) -> Bool {
        let name = ByteName(revocation.id)
        if table.end(revocation.kind, name) == nil { table.names.append((revocation.kind, name)) }
        switch revocation.kind {
        case .token: return extend(&table.tokens[name], revocation.expiresAt)
        case .family: return extend(&table.families[name], revocation.expiresAt)
        case .subject:
            let known = table.subjects[name]
            let told = SubjectCut(issuedUntil: revocation.issuedUntil, accountVersion: revocation.accountVersion)
            let cut = known?.cut.joined(with: told) ?? told
            table.subjects[name] = (cut, max(known?.expiresAt ?? .min, revocation.expiresAt))
            return cut != known?.cut
        }
    }

    private static func extend(_ slot: inout Int64?, _ expiresAt: Int64) -> Bool {
        defer { slot = max(slot ?? .min, expiresAt) }
        return slot == nil
    }

    func contains(_ principal: Principal) -> Bool {
        contains(
            tokenID: principal.tokenID, familyID: principal.familyID, subject: principal.subject,
            issuedAt: principal.issuedAt)
    }

    /// Whether a token with these claims is revoked. Nil means that the token lacks the claim.
    func contains(tokenID: String?, familyID: String?, subject: String?, issuedAt: Int64) -> Bool {
        table.withLock { table in
            if !table.families.isEmpty, let familyID, table.families[ByteName(familyID)] != nil { return true }
            if !table.tokens.isEmpty, let tokenID, table.tokens[ByteName(tokenID)] != nil { return true }
            if !table.subjects.isEmpty, let subject, let entry = table.subjects[ByteName(subject)] {
                return entry.cut.ends(issuedAt: issuedAt, familyID: familyID)
            }
            return false
        }
    }

    /// Removes the revocations whose tokens have all expired, a portion at a time.
    func prune(now: Int64) async {
        var place: Int? = 0
        while let start = place {
            place = prune(now: now, from: start, count: Self.portion)
            await Task.yield()
        }
    }

    /// Looks at up to `count` entries, and removes those that have ended.
    ///
    /// - Returns: where to go on; nil if these were the last ones.
    func prune(now: Int64, from start: Int, count: Int) -> Int? {
        table.withLock { table in
            var place = start
            for _ in 0..<count {
                guard place < table.names.count else { return nil }
                let (kind, name) = table.names[place]
                if let end = table.end(kind, name), end > now &- Revocation.margin {
                    place += 1
                } else {
                    table.remove(kind, name)
                    // The last one takes its place, and is looked at next.
                    table.names.swapAt(place, table.names.count - 1)
                    table.names.removeLast()
                }
            }
            return place
        }
    }

    var count: Int { table.withLock { $0.tokens.count + $0.families.count + $0.subjects.count } }
}
