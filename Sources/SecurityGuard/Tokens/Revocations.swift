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
    }

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

    /// Removes the revocations whose tokens have all expired.
    func prune(now: Int64) {
        table.withLock { table in
            table.tokens = table.tokens.filter { $0.value &+ Revocation.margin > now }
            table.families = table.families.filter { $0.value &+ Revocation.margin > now }
            table.subjects = table.subjects.filter { $0.value.expiresAt &+ Revocation.margin > now }
        }
    }

    var count: Int { table.withLock { $0.tokens.count + $0.families.count + $0.subjects.count } }
}
