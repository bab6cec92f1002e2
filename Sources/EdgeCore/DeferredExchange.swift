import NIOCore

/// Stands in for an exchange while the store is being asked. The body waits at the client meanwhile; what arrives all the
/// same is kept for the exchange that follows.
package final class DeferredExchange: Exchange {
    private let writer: any ResponseWriter
    private var inner: (any Exchange)?
    private var held: [ByteBuffer] = []
    private var hasEnded = false
    package private(set) var isGone = false

    package init(writer: any ResponseWriter) {
        self.writer = writer
        writer.pauseBody()
    }

    /// Goes on as `exchange`; nil when the answer has been given.
    ///
    /// It holds the request before it starts, so that it gets the body that starting it may ask for.
    package func resolve(_ exchange: (any Exchange)?) {
        // An answer lets the body flow by itself, and the connection may be at its next request already.
        guard let exchange else { return }
        // What has arrived comes here at once: at most one read. From now on only `exchange` pauses and resumes.
        writer.resumeBody()
        // That body may have turned out malformed and been answered.
        guard !isGone else { return exchange.clientGone() }
        inner = exchange
        exchange.start()
        let parts = held
        held = []
        for part in parts { exchange.received(body: part) }
        if hasEnded { exchange.receivedEnd() }
    }

    package var wantsContinueFromGateway: Bool { false }

    package func received(body: ByteBuffer) {
        if let inner { inner.received(body: body) } else { held.append(body) }
    }

    package func receivedEnd() {
        if let inner { inner.receivedEnd() } else { hasEnded = true }
    }

    package func clientBecameWritable() { inner?.clientBecameWritable() }

    package func clientGone() {
        isGone = true
        inner?.clientGone()
    }
}
