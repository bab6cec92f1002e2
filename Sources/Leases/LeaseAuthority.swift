/// The interface of a lease table to the rest of the gateway. Its methods are called on the table's event loop.
package protocol LeaseAuthority {
    /// The sessions with a lease, for lookups by other threads.
    var held: HeldSessions { get }
    /// The accounts that a lease depends on, for lookups by other threads.
    var heldAccounts: HeldSessions { get }
    /// Why a new lease has already ended, or nil. It is called after the lease was added to the table, because changes
    /// since its admission were reported before that.
    func end(of terms: LeaseTerms) -> LeaseEnd?
    /// Why a lease with these terms would be over already, according to memory alone; nil if memory knows of no reason.
    func knownEnd(of terms: LeaseTerms) -> LeaseEnd?
    /// Whether memory knows that the session of these terms is live, or they have none.
    func knowsSession(of terms: LeaseTerms) -> Bool
    /// Asks the store about a lease that was added before. What ends it is told to the table before `done` is called,
    /// which may be on any thread.
    func confirm(_ terms: LeaseTerms, done: @escaping @Sendable () -> Void)
    /// A number that grows with every revocation.
    var revocationCount: UInt64 { get }
    /// The time in Unix milliseconds.
    var clock: @Sendable () -> Int64 { get }
    /// Called when a lease's session may have expired. The answer of the store ends the lease.
    func sessionDue(_ terms: LeaseTerms)
    /// Called once a second for every session with a lease.
    func used(sessionID: String)
}
