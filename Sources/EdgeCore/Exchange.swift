import HTTPWire
import NIOCore

/// Answers one request. Every call comes on the connection's event loop.
///
/// The connection hands over the body part by part and says when the client can take more or has gone; the exchange
/// answers through the connection's `ResponseWriter` side.
package protocol Exchange: AnyObject {
    /// The exchange is responsible for the request from here on. Called once, before any other call. It may ask for the
    /// body at once.
    func start()
    /// A part of the request's body, already freed of its framing.
    func received(body: ByteBuffer)
    /// The request's body is complete.
    func receivedEnd()
    /// The client's channel has become writable again.
    func clientBecameWritable()
    /// The gateway stops: the connection closes behind the answer. An answer that never ends by itself ends now.
    func gatewayStops()
    /// The client has gone, or its message turned out malformed: no answer is possible any more.
    func clientGone()
    /// Whether the gateway itself answers `Expect: 100-continue` (the API), rather than the upstream.
    var wantsContinueFromGateway: Bool { get }
}

extension Exchange {
    /// Does nothing: for an exchange that has nothing to start.
    package func start() {}
    /// Does nothing: for an answer that ends by itself.
    package func gatewayStops() {}
}
