import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Finds peers that have vanished without a word, where no frame may be put into the stream to ask them.
enum KeepAlive {
    /// Seconds of silence before the first probe, and between probes. The time below ends what answers none.
    private static let idle: Int = 30
    private static let interval: Int = 10
    /// Milliseconds after which bytes that nobody acknowledged end the connection.
    private static let userTimeout: Int = 60_000

    /// Sets the probes on the TCP connection under a channel; others, such as Unix sockets, have no use for them.
    static func arm(_ channel: any Channel) {
        #if os(Linux)
        guard let transport = transport(of: channel), transport.remoteAddress?.port != nil else { return }
        set(.init(rawValue: TCP_KEEPIDLE), idle, on: transport)
        set(.init(rawValue: TCP_KEEPINTVL), interval, on: transport)
        set(.init(rawValue: TCP_USER_TIMEOUT), userTimeout, on: transport)
        #endif
    }

    /// The same for the client's side, which has inherited the probes from its listener.
    static func armClient(_ channel: any Channel) {
        #if os(Linux)
        guard let transport = transport(of: channel), transport.remoteAddress?.port != nil else { return }
        set(.init(rawValue: TCP_USER_TIMEOUT), userTimeout, on: transport)
        #endif
    }

    /// Sets the probes for all connections that a listener will accept.
    static func prepare(_ bootstrap: ServerBootstrap) -> ServerBootstrap {
        #if os(Linux)
        bootstrap.serverChannelOption(option(TCP_KEEPIDLE), value: SocketOptionValue(idle))
            .serverChannelOption(option(TCP_KEEPINTVL), value: SocketOptionValue(interval))
        #else
        bootstrap
        #endif
    }

    private static func option(_ name: CInt) -> ChannelOptions.Types.SocketOption {
        ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: name))
    }

    /// A stream's connection is its parent; an accepted connection's parent is the listener.
    private static func transport(of channel: any Channel) -> (any Channel)? {
        if channel is any SocketOptionProvider { return channel }
        return channel.parent.flatMap { $0 is any SocketOptionProvider ? $0 : nil }
    }

    private static func set(_ name: NIOBSDSocket.Option, _ value: Int, on channel: any Channel) {
        let option = ChannelOptions.Types.SocketOption(level: .tcp, name: name)
        try? channel.syncOptions?.setOption(option, value: SocketOptionValue(value))
    }
}
