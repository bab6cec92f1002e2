import Leases

/// What a lease table is told by the rest of the gateway, as a test has it: nothing is over beforehand.
package final class LeaseAuthorityModel: LeaseAuthority {
    package let held: HeldSessions
    package let heldAccounts = HeldSessions()
    package let clock: @Sendable () -> Int64
    private let endedBefore: (LeaseTerms) -> LeaseEnd?
    /// The leases whose session came to its end, and the sessions that were told as used.
    package private(set) var due: [LeaseTerms] = []
    package private(set) var uses: [String] = []

    package init(
        held: HeldSessions = HeldSessions(), endedBefore: @escaping (LeaseTerms) -> LeaseEnd? = { _ in nil },
        clock: @escaping @Sendable () -> Int64 = { 0 }
    ) {
        self.held = held
        self.clock = clock
        self.endedBefore = endedBefore
    }

    package func end(of terms: LeaseTerms) -> LeaseEnd? { endedBefore(terms) }
    package func knownEnd(of terms: LeaseTerms) -> LeaseEnd? { endedBefore(terms) }
    package func knowsSession(of terms: LeaseTerms) -> Bool { true }
    package func confirm(_ terms: LeaseTerms, done: @escaping @Sendable () -> Void) { done() }
    package var revocationCount: UInt64 { 0 }
    package func sessionDue(_ terms: LeaseTerms) { due.append(terms) }
    package func used(sessionID: String) { uses.append(sessionID) }
}

extension LeaseTable {
    /// A table of its own.
    package convenience init(now: Int64) { self.init(now: now, authority: LeaseAuthorityModel()) }
}
