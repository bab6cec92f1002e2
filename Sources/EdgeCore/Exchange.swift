import HTTPWire
import NIOCore

/// Whoever answers one request. Every call comes on the connection's event loop.
///
/// The connection hands over the body part by part and tells when the client can take more or has gone; the exchange
/// answers through the connection's `ResponseWriter` side.
package protocol Exchange: AnyObject {
    /// The exchange holds the request from here on. Called once, before anything else: what it starts may ask for the
    /// body at once.
    func start()
    /// A part of the request's body, already freed of its framing.
    func received(body: ByteBuffer)
    /// The request's body is complete.
    func receivedEnd()
    /// The client's channel has become writable again.
    func clientBecameWritable()
    /// The client has gone, or its message turned out malformed: nothing more can be answered.
    func clientGone()
    /// Whether the gateway itself answers `Expect: 100-continue` (the API), rather than the upstream.
    var wantsContinueFromGateway: Bool { get }
}

extension Exchange {
    package func start() {}
}
