/// What a lease table asks of the rest of the gateway, and tells it. Called on the table's loop.
package protocol LeaseAuthority {
    /// Where other threads look up which sessions have a lease on some loop.
    var held: HeldSessions { get }
    /// Asked of every new lease, once it can be found: why it is over already. What ended between its admission and now
    /// was told when nothing listened for it yet.
    func end(of terms: LeaseTerms) -> LeaseEnd?
    /// A lease's session has come to its end: the store's answer ends the lease.
    func sessionDue(_ terms: LeaseTerms)
    /// Told once a second of every session that has something open.
    func used(sessionID: String)
}
