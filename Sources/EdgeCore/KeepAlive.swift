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
        set(.socketOption(.so_keepalive), 1, on: channel)
    }

    /// The same for the caller's own socket, which costs a tenth.
    package static func turnOn(_ socket: NIOBSDSocket.Handle) {
        #if os(Linux)
        set(CInt(SOL_SOCKET), SO_KEEPALIVE, 1, on: socket)
        #endif
    }

    /// Sets the times of the probes for the TCP connection under a channel; other sockets, such as Unix sockets, need
    /// none.
    package static func arm(_ channel: any Channel) {
        #if os(Linux)
        guard let transport = transport(of: channel) else { return }
        set(option(TCP_KEEPIDLE), idle, on: transport)
        set(option(TCP_KEEPINTVL), interval, on: transport)
        set(option(TCP_USER_TIMEOUT), userTimeout, on: transport)
        #endif
    }

    /// The same for a socket that is known, at a tenth of the cost.
    package static func arm(_ socket: ChannelSocket) {
        #if os(Linux)
        _ = socket.withHandle { handle in
            set(CInt(IPPROTO_TCP), TCP_KEEPIDLE, idle, on: handle)
            set(CInt(IPPROTO_TCP), TCP_KEEPINTVL, interval, on: handle)
            set(CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, userTimeout, on: handle)
        }
        #endif
    }

    /// The same for a client's connection, which has inherited the probes from its listener.
    package static func armClient(_ channel: any Channel) {
        #if os(Linux)
        guard let transport = transport(of: channel) else { return }
        set(option(TCP_USER_TIMEOUT), userTimeout, on: transport)
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

    /// The TCP connection under a channel; nil where there is none. For a stream of HTTP/2 that is its parent.
    private static func transport(of channel: any Channel) -> (any Channel)? {
        guard channel.remoteAddress?.port != nil else { return nil }
        if channel is any SocketOptionProvider { return channel }
        return channel.parent.flatMap { $0 is any SocketOptionProvider ? $0 : nil }
    }

    #if os(Linux)
    /// It fails for a Unix socket, which needs no probes.
    private static func set(_ level: CInt, _ name: CInt, _ value: CInt, on socket: NIOBSDSocket.Handle) {
        var value = value
        setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<CInt>.size))
    }
    #endif

    /// Sets an option by the channel. Borrowing its descriptor would cost ten times as much: see ``ChannelSocket``.
    private static func set(_ option: ChannelOptions.Types.SocketOption, _ value: CInt, on channel: any Channel) {
        // It fails for a socket that is closed already, which needs no probes.
        try? channel.syncOptions?.setOption(option, value: SocketOptionValue(value))
    }
}
