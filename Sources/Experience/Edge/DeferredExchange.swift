import NIOCore

/// Stands in for an exchange while the store is being asked. The body waits at the client meanwhile; what arrives all the
/// same is kept for the exchange that follows.
final class DeferredExchange: Exchange {
    private let writer: any ResponseWriter
    private var inner: (any Exchange)?
    private var held: [ByteBuffer] = []
    private var hasEnded = false
    private(set) var isGone = false

    init(writer: any ResponseWriter) {
        self.writer = writer
        writer.pauseBody()
    }

    /// Goes on as `exchange`; nil when the answer has been given.
    ///
    /// It holds the request before it starts, so that it gets the body that starting it may ask for.
    func resolve(_ exchange: (any Exchange)?) {
        inner = exchange
        exchange?.start()
        for part in held { exchange?.received(body: part) }
        held = []
        if hasEnded { exchange?.receivedEnd() }
        writer.resumeBody()
    }

    var wantsContinueFromGateway: Bool { false }

    func received(body: ByteBuffer) {
        if let inner { inner.received(body: body) } else { held.append(body) }
    }

    func receivedEnd() {
        if let inner { inner.receivedEnd() } else { hasEnded = true }
    }

    func clientBecameWritable() { inner?.clientBecameWritable() }

    func clientGone() {
        isGone = true
        inner?.clientGone()
    }
}
