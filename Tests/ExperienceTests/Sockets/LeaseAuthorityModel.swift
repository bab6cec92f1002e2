@testable import Experience

/// What a lease table is told by the rest of the gateway, as a test has it: nothing is over beforehand.
final class LeaseAuthorityModel: LeaseAuthority {
    let held: HeldSessions
    private let overBefore: (LeaseTerms) -> LeaseEnd?
    /// The leases whose session came to its end, and the sessions that were told as used.
    private(set) var due: [LeaseTerms] = []
    private(set) var uses: [String] = []

    init(held: HeldSessions = HeldSessions(), overBefore: @escaping (LeaseTerms) -> LeaseEnd? = { _ in nil }) {
        self.held = held
        self.overBefore = overBefore
    }

    func end(of terms: LeaseTerms) -> LeaseEnd? { overBefore(terms) }
    func sessionDue(_ terms: LeaseTerms) { due.append(terms) }
    func used(sessionID: String) { uses.append(sessionID) }
}

extension LeaseTable {
    /// A table of its own.
    convenience init(now: Int64) { self.init(now: now, authority: LeaseAuthorityModel()) }
}
