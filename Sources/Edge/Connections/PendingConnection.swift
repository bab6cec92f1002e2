import EdgeCore
import NIOCore

/// A connection that was accepted and can't carry requests yet: its TLS handshake, or its header of the PROXY protocol,
/// is not complete. It is closed when that takes too long.
///
/// It counts as open, so that a gateway that stops waits for it. Confined to its event loop.
final class PendingConnection: DeadlineHolder {
    private let channel: any Channel
    private let loop: LoopState
    private let deadline: ConnectionDeadline
    private var isOver = false

    /// - Parameter time: `server.header_timeout`, counted from here. A header of the PROXY protocol and a handshake
    ///   after it have one each.
    init(of channel: any Channel, on loop: LoopState, within time: TimeAmount) {
        self.channel = channel
        self.loop = loop
        deadline = ConnectionDeadline(loop.deadlines)
        loop.pendingConnections += 1
        // The deadline keeps this object alive until it is over.
        deadline.arm(after: time, for: self)
        channel.closeFuture.assumeIsolated().whenComplete { [weak self] _ in self?.end() }
    }

    /// Closes the connection without an answer: there is no request to answer.
    func deadlinePassed() { channel.close(promise: nil) }

    /// The connection carries requests from here on, or is closed. May be called more than once.
    func end() {
        guard !isOver else { return }
        isOver = true
        loop.pendingConnections -= 1
        deadline.cancel()
    }
}
