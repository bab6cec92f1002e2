import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A channel handler that writes directly to its socket where that keeps the order of the bytes.
///
/// Nearly every message is one small piece for which the socket has room. SwiftNIO's list of pending writes only makes
/// it slower, so the first piece of a turn is held until the flush and then written to the socket itself. Further
/// pieces, and bytes that the socket does not take at once, are written through SwiftNIO, with its back-pressure and
/// its errors.
package protocol DirectWriter: AnyObject {
    /// What was written and not flushed yet.
    var output: DirectOutput { get set }
}

// Calls to the channel may call the handler again, which may write: no such call is made while `output` is being
// changed.
extension DirectWriter {
    /// Writes bytes; they are sent by ``flushOutput(_:)``.
    package func write(_ bytes: ByteBuffer, to context: ChannelHandlerContext) {
        if !output.hold(bytes) { write(NIOAny(bytes), promise: nil, to: context) }
    }

    /// Writes through SwiftNIO, after what was written before.
    package func write(_ bytes: NIOAny, promise: EventLoopPromise<Void>?, to context: ChannelHandlerContext) {
        let held = output.passOn()
        if let held { context.write(NIOAny(held), promise: nil) }
        context.write(bytes, promise: promise)
    }

    /// Sends what was written.
    package func flushOutput(_ context: ChannelHandlerContext) {
        if let rest = output.sendHeld(on: context.channel) { context.write(NIOAny(rest), promise: nil) }
        guard output.isChannelBusy else { return }
        context.flush()
        output.look(at: context.channel)
    }
}

/// What a ``DirectWriter`` has written and not flushed yet, and its socket.
package struct DirectOutput {
    private enum Socket {
        /// Not asked for, and nothing written yet.
        case fresh
        /// Not asked for yet.
        case unknown
        case known(ChannelSocket)
        /// There are handlers between this one and the socket, or there is no socket.
        case none
    }

    private var socket: Socket
    private var held: ByteBuffer?
    /// Whether the channel may have bytes of ours that the socket has not taken.
    private(set) var isChannelBusy = false

    /// - Parameters:
    ///   - isPlain: whether nothing between the handler and the socket changes the bytes. TLS does.
    ///   - socket: the socket, where it is known already; else it is found when it is needed.
    package init(isPlain: Bool, socket: ChannelSocket? = nil) {
        self.socket = !isPlain ? .none : socket.map { .known($0) } ?? .fresh
    }

    /// Holds the first bytes of a turn; false where they must be written through SwiftNIO. So are the first bytes of
    /// all: finding the socket costs more than that, and many connections have one answer.
    fileprivate mutating func hold(_ bytes: ByteBuffer) -> Bool {
        guard held == nil, !isChannelBusy, mayBeDirect else { return false }
        if case .fresh = socket { return false }
        held = bytes
        return true
    }

    /// From now on bytes are written through SwiftNIO, beginning with those that were held, which are returned.
    fileprivate mutating func passOn() -> ByteBuffer? {
        isChannelBusy = true
        if case .fresh = socket { socket = .unknown }
        return held.take()
    }

    /// Writes the held bytes to the socket. Returns what it did not take; an error shows when the channel writes that.
    fileprivate mutating func sendHeld(on channel: any Channel) -> ByteBuffer? {
        guard var bytes = held.take(), bytes.readableBytes > 0 else { return nil }
        bytes.moveReaderIndex(forwardBy: send(bytes, on: channel))
        guard bytes.readableBytes > 0 else { return nil }
        isChannelBusy = true
        return bytes
    }

    /// Ends the socket's sending side; false where bytes are waiting, or the socket can't be reached past the channel.
    package mutating func endSending(on channel: any Channel) -> Bool {
        guard held == nil, !isChannelBusy, let socket = socket(of: channel) else { return false }
        return socket.withHandle { shutdown($0, CInt(SHUT_WR)) } == 0
    }

    /// After a flush, checks whether the socket has taken everything.
    fileprivate mutating func look(at channel: any Channel) {
        guard mayBeDirect else { return }
        // A channel that can't say is written to through SwiftNIO from now on.
        isChannelBusy = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) != 0
    }

    /// The socket, where it has been found already.
    package var knownSocket: ChannelSocket? {
        if case .known(let known) = socket { known } else { nil }
    }

    private var mayBeDirect: Bool {
        if case .none = socket { false } else { true }
    }

    private mutating func send(_ bytes: ByteBuffer, on channel: any Channel) -> Int {
        guard let socket = socket(of: channel) else { return 0 }
        let sent = socket.withHandle { handle in bytes.withUnsafeReadableBytes { Self.send(handle, $0) } }
        return max(0, sent ?? 0)
    }

    private mutating func socket(of channel: any Channel) -> ChannelSocket? {
        switch socket {
        case .known(let known): return known
        case .none: return nil
        case .fresh, .unknown:
            let found = ChannelSocket(channel)
            socket = found.map(Socket.known) ?? .none
            return found
        }
    }

    private static func send(_ socket: NIOBSDSocket.Handle, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if os(Linux)
        Glibc.send(socket, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
        #else
        // Elsewhere a closed socket would answer with a signal.
        0
        #endif
    }
}
