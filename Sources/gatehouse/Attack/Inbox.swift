import EdgeCore
import NIOCore
import NIOSSL
import Synchronization

/// The bytes that have arrived, and the reader that waits for more.
final class Inbox: Sendable {
    /// What has arrived so far, and whether the target has closed the connection.
    typealias Received = (bytes: [UInt8], hasEnded: Bool)

    /// The number of bytes after which the connection is closed.
    static let limit = 1 << 20

    /// Guarded by the lock.
    private struct State {
        /// What no reader has taken yet.
        var bytes: [UInt8] = []
        /// Whether the target has closed the connection. There will be nothing more.
        var hasEnded = false
        /// Whether more came than the limit. The connection has been closed for it, which is not its end by the target.
        var isFull = false
        /// Why TLS failed; nil for a connection without such a fault.
        var fault: String?
        /// The one reader that waits. A second one resumes the first with what there is.
        var waiter: (isEnough: @Sendable ([UInt8]) -> Bool, continuation: CheckedContinuation<Received, Never>)?

        /// Resumes the waiting reader if there is enough, the connection has ended, or `force` is set.
        mutating func settle(force: Bool = false) {
            guard let waiter, force || hasEnded || isFull || waiter.isEnough(bytes) else { return }
            self.waiter = nil
            let received = (bytes, hasEnded)
            bytes = []
            waiter.continuation.resume(returning: received)
        }
    }

    private let state = Mutex(State())

    /// Why TLS failed, as the library words it; nil if it did not.
    var fault: String? { state.withLock { $0.fault } }
    /// Whether more came than the limit.
    var isFull: Bool { state.withLock { $0.isFull } }

    /// Resumes the continuation when `isEnough` says so of everything that has arrived, when the connection has ended,
    /// or with ``giveUp()``.
    func wait(
        until isEnough: @escaping @Sendable ([UInt8]) -> Bool, _ continuation: CheckedContinuation<Received, Never>
    ) {
        state.withLock { state in
            state.settle(force: true)
            state.waiter = (isEnough, continuation)
            state.settle()
        }
    }

    /// Resumes the reader with what there is: its time is over.
    func giveUp() {
        state.withLock { $0.settle(force: true) }
    }

    /// Adds bytes. False if there are more of them than the limit.
    func take(_ bytes: ByteBufferView) -> Bool {
        state.withLock { state in
            guard !state.isFull else { return false }
            state.bytes.append(contentsOf: bytes)
            state.isFull = state.bytes.count > Self.limit
            state.settle()
            return !state.isFull
        }
    }

    /// The connection has ended, by a fault of TLS if one is given.
    func end(_ fault: String? = nil) {
        state.withLock { state in
            state.hasEnded = !state.isFull
            if let fault, state.fault == nil { state.fault = fault }
            state.settle()
        }
    }
}

/// Puts what a channel receives into an ``Inbox``.
final class InboxHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let inbox: Inbox

    init(_ inbox: Inbox) {
        self.inbox = inbox
    }

    /// Keeps the bytes, and closes a connection that sends more than the limit.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !inbox.take(unwrapInboundIn(data).readableBytesView) { context.close(promise: nil) }
    }

    /// The target has closed the connection.
    func channelInactive(context: ChannelHandlerContext) {
        inbox.end()
    }

    /// Keeps the cause, if it is one of TLS, and closes.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isTLS = error is NIOSSLError || error is BoringSSLError || error is NIOSSLExtraError
        // Many close without the alert that TLS has for it. That is an end like any other.
        let isEnd = error as? NIOSSLError == .uncleanShutdown
        inbox.end(isTLS && !isEnd ? TLSFault.words(in: "\(error)") : nil)
        context.close(promise: nil)
    }
}
