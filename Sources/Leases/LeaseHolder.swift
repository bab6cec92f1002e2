/// What a lease lets in, and what must go when it ends. Called on the lease's event loop, at most once.
package protocol LeaseHolder: AnyObject {
    /// Says so to the peer, and no more: where many end at once, all are told before anything else is done for one.
    func leaseEnded(_ end: LeaseEnd)
    /// Follows `leaseEnded`: what else there is to do.
    func settle()
}

extension LeaseHolder {
    package func settle() {}
}
