import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Detects peers that have vanished without closing, by TCP probes, where no frame may be put into the stream to ask
/// them.
package enum KeepAlive {
    /// Seconds of silence before the first probe, and between probes. ``userTimeout`` ends a connection that answers
    /// none.
    private static let idle: CInt = 30
    private static let interval: CInt = 10
    /// Milliseconds after which bytes that were not acknowledged end the connection.
    private static let userTimeout: CInt = 60_000

    /// Turns the probes on, also for a socket that is not connected yet. It has no effect on a Unix socket.
    package static func turnOn(_ channel: any Channel) {
        _ = ChannelSocket.borrow(from: channel) { set(SOL_SOCKET, SO_KEEPALIVE, 1, on: $0) }
    }

    /// Sets the times of the probes for the TCP connection under a channel; other sockets, such as Unix sockets, need
    /// none.
    package static func arm(_ channel: any Channel) {
        #if os(Linux)
        withSocket(of: channel) { socket in
            set(CInt(IPPROTO_TCP), TCP_KEEPIDLE, idle, on: socket)
            set(CInt(IPPROTO_TCP), TCP_KEEPINTVL, interval, on: socket)
            set(CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, userTimeout, on: socket)
        }
        #endif
    }

    /// The same for a client's connection, which has inherited the probes from its listener.
    package static func armClient(_ channel: any Channel) {
        #if os(Linux)
        withSocket(of: channel) { set(CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, userTimeout, on: $0) }
        #endif
    }

    /// Sets the probes for all connections that a listener will accept.
    package static func prepare(_ bootstrap: ServerBootstrap) -> ServerBootstrap {
        #if os(Linux)
        bootstrap.serverChannelOption(option(TCP_KEEPIDLE), value: SocketOptionValue(Int(idle)))
            .serverChannelOption(option(TCP_KEEPINTVL), value: SocketOptionValue(Int(interval)))
        #else
        bootstrap
        #endif
    }

    /// The same for a TCP listener that is bound already. Connections that wait to be accepted keep what they have.
    package static func prepare(_ listener: any Channel) async throws {
        #if os(Linux)
        try await listener.setOption(option(TCP_KEEPIDLE), value: SocketOptionValue(idle)).get()
        try await listener.setOption(option(TCP_KEEPINTVL), value: SocketOptionValue(interval)).get()
        #endif
    }

    private static func option(_ name: CInt) -> ChannelOptions.Types.SocketOption {
        ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: name))
    }

    /// Calls `body` with the TCP socket under a channel. For a stream of HTTP/2 that is the socket of its parent.
    private static func withSocket(of channel: any Channel, _ body: (NIOBSDSocket.Handle) -> Void) {
        guard let transport = transport(of: channel), transport.remoteAddress?.port != nil else { return }
        // Set directly: SwiftNIO's channel option costs more than the system call itself.
        _ = ChannelSocket.borrow(from: transport, body)
    }

    private static func transport(of channel: any Channel) -> (any Channel)? {
        if channel is any SocketOptionProvider { return channel }
        return channel.parent.flatMap { $0 is any SocketOptionProvider ? $0 : nil }
    }

    private static func set(_ level: CInt, _ name: CInt, _ value: CInt, on socket: NIOBSDSocket.Handle) {
        var value = value
        // It fails for a socket that is closed already, which needs no probes.
        _ = setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<CInt>.size))
    }
}
