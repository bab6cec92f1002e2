/// The socket or stream of a lease, which is closed when the lease ends. Its methods are called on the lease's event
/// loop, at most once.
package protocol LeaseHolder: AnyObject {
    /// Tells the peer, and does nothing else. If many leases end at once, all peers are told before anything else is
    /// done.
    func leaseEnded(_ end: LeaseEnd)
    /// Does the remaining work. Called after ``leaseEnded(_:)``.
    func settle()
}

extension LeaseHolder {
    /// Does nothing: for a holder that has done everything in ``leaseEnded(_:)``.
    package func settle() {}
}
