/// Asks a pool for a connection. Every call comes on the pool's event loop. One call to
/// ``UpstreamPool/lend(to:_:excluding:only:isRetry:)`` is answered by at most one of these, perhaps before it returns:
/// by none where the connection is no longer wanted when it has been made.
package protocol UpstreamSeeker: AnyObject {
    /// Whether a connection is still wanted.
    var isSeekingUpstream: Bool { get }
    /// A connection has been found. It has not been lent yet.
    ///
    /// - Parameter isPooled: whether it has carried requests before.
    func connected(to connection: UpstreamConnection, isPooled: Bool)
    /// One member can't be reached; nothing was sent.
    func failedToConnect(to member: Int, _ fault: UpstreamFault)
    /// Every member was tried.
    func noUpstreamLeft()
    /// There would be an upstream, but each has as many requests or connections as it may.
    func upstreamsAreFull()
}
