/// Asks a pool for a connection. Every call comes on the pool's event loop.
package protocol UpstreamSeeker: AnyObject {
    /// Whether a connection is still wanted.
    var isSeekingUpstream: Bool { get }
    /// A connection has been found. It has not been lent yet.
    func connected(to connection: UpstreamConnection, isPooled: Bool)
    /// One member can't be reached; nothing was sent.
    func failedToConnect(to member: Int, _ fault: UpstreamFault)
    /// Every member was tried.
    func noUpstreamLeft()
    /// There would be an upstream, but each has as many requests or connections as it may.
    func upstreamsAreFull()
}
