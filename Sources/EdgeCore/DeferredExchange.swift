import NIOCore

/// Takes the place of an exchange while the store is being asked. Meanwhile the connection does not read the body; the
/// part of it that arrives anyway is kept for the exchange that follows.
package final class DeferredExchange: Exchange {
    private let writer: any ResponseWriter
    /// The exchange that has followed; nil while the store is asked.
    package private(set) var inner: (any Exchange)?
    private var held: [ByteBuffer] = []
    private var hasEnded = false
    /// Whether the client has gone, or its message turned out malformed.
    package private(set) var isGone = false

    /// Creates the exchange and stops the flow of the request's body.
    package init(writer: any ResponseWriter) {
        self.writer = writer
        writer.pauseBody()
    }

    /// Continues as `exchange`; nil when the request has been answered.
    ///
    /// The exchange gets the request before it is started, so that it receives the body that starting it may ask for.
    package func resolve(_ exchange: (any Exchange)?) {
        // After an answer the connection lets the body flow by itself, and may be at its next request already.
        guard let exchange else { return }
        // The bytes that have arrived, at most one read, come here at once. From now on only `exchange` pauses and
        // resumes.
        writer.resumeBody()
        // That body may have turned out malformed, and the request been answered.
        guard !isGone else { return exchange.clientGone() }
        inner = exchange
        exchange.start()
        let parts = held
        held = []
        for part in parts { exchange.received(body: part) }
        if hasEnded { exchange.receivedEnd() }
    }

    package var wantsContinueFromGateway: Bool { false }

    /// Stops the flow of the body again: it flows where this exchange itself follows another one that has waited.
    package func start() {
        if inner == nil, !isGone { writer.pauseBody() }
    }

    package func received(body: ByteBuffer) {
        if let inner { inner.received(body: body) } else { held.append(body) }
    }

    package func receivedEnd() {
        if let inner { inner.receivedEnd() } else { hasEnded = true }
    }

    package func clientBecameWritable() { inner?.clientBecameWritable() }

    package func gatewayStops() { inner?.gatewayStops() }

    package func clientGone() {
        isGone = true
        inner?.clientGone()
    }
}
