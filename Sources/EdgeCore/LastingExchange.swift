/// A socket or stream that stays open, as operators see and end it. Used on the connection's event loop.
package protocol LastingExchange: AnyObject {
    /// What it is; nil while it is no more than an answer under way.
    var lastingKind: LastingKind? { get }
    /// When it ends if nothing extends it, in ms since the epoch; nil where nothing ends it by time.
    var endsAt: Int64? { get }
    /// An operator ends it: a socket gets a Close with 4403, a stream is cut.
    func endedByOperator()
}

/// What stays open.
package enum LastingKind: Sendable {
    /// A WebSocket that ends in the gateway.
    case socket
    /// A WebSocket that is relayed to an upstream.
    case relay
    /// An answer that goes on until its lease ends.
    case stream
}
