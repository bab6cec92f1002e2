import EdgeCore
import NIOCore
import NIOHTTP2

/// Closes an HTTP/2 connection that has carried no stream for a while, or that has none left when the gateway stops or
/// the client has sent GOAWAY. Confined to the connection's event loop; it lives until the connection is closed.
package final class HTTP2ConnectionCloser: DeadlineHolder {
    private let channel: any Channel
    private let idleTimeout: TimeAmount
    private let deadline: ConnectionDeadline
    private let output: HTTP2Output
    private var open = 0
    private var isDraining = false
    private var hasClientSentGoAway = false

    init(channel: any Channel, output: HTTP2Output, loop: LoopState, idleTimeout: TimeAmount) {
        self.channel = channel
        self.output = output
        self.idleTimeout = idleTimeout
        self.deadline = ConnectionDeadline(loop.deadlines)
        loop.http2Connections[ObjectIdentifier(self)] = self
        deadline.arm(after: idleTimeout, for: self)
        channel.closeFuture.assumeIsolated().whenComplete { _ in
            loop.http2Connections[ObjectIdentifier(self)] = nil
            self.deadline.cancel()
        }
        if loop.isDraining { after(Self.moment) { $0.drain() } }
    }

    /// How long a client has for its first request where the gateway is stopping already, and for those that it sends
    /// before it knows.
    private static let moment = TimeAmount.milliseconds(500)

    private func after(_ delay: TimeAmount, _ body: @escaping @Sendable (HTTP2ConnectionCloser) -> Void) {
        let me = NIOLoopBound(self, eventLoop: channel.eventLoop)
        channel.eventLoop.scheduleTask(in: delay) { body(me.value) }
    }

    /// A client has opened a stream: the connection is not idle until it is closed.
    package func opened(_ stream: any Channel) {
        open += 1
        deadline.cancel()
        stream.closeFuture.assumeIsolated().whenComplete { _ in
            self.open -= 1
            self.closeIfUnused()
        }
    }

    /// The gateway stops: the client is told to open no more streams (RFC 9113 section 6.8), and the connection is
    /// closed when those that are open have ended. A stream that was on its way meanwhile is served.
    package func drain() {
        guard channel.isActive else { return }
        channel.writeAndFlush(
            HTTP2Frame(
                streamID: .rootStream, payload: .goAway(lastStreamID: .maxID, errorCode: .noError, opaqueData: nil)),
            promise: nil)
        after(Self.moment) { watch in
            watch.isDraining = true
            watch.closeIfUnused()
        }
    }

    /// The client has sent GOAWAY: it opens no more streams, and those that are open may finish.
    func clientSentGoAway() {
        hasClientSentGoAway = true
        closeIfUnused()
    }

    /// No stream was open for `server.idle_timeout`.
    package func deadlinePassed() { channel.close(promise: nil) }

    private func closeIfUnused() {
        guard open == 0, channel.isActive else { return }
        // A client that does not read its last answer gets the time of an idle one.
        deadline.arm(after: idleTimeout, for: self)
        if hasClientSentGoAway || isDraining { output.closeBehindOutput() }
    }
}
