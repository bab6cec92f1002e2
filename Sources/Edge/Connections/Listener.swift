import EdgeConfiguration
import EdgeCore
import Foundation
import NIOCore
import NIOPosix
import Sockets

/// The public listener: one accepting socket per event loop on one port, or one Unix socket whose connections are
/// spread over the loops; bound before any request is served.
package final class Listener: Sendable {
    private let channels: [any Channel]
    /// The address that was bound.
    package let address: ListenAddress

    private init(channels: [any Channel], address: ListenAddress) {
        self.channels = channels
        self.address = address
    }

    /// Binds without accepting yet.
    ///
    /// - Parameters:
    ///   - sharesPort: whether another process may listen on the same port.
    ///   - inherited: the descriptor of a listening socket that is used instead.
    ///   - connect: makes the pipeline of a new connection; called on the connection's loop.
    ///   - wanted: `server.listen`; port 0 takes the port that the system gives the first socket.
    ///   - socketMode: the permissions of a Unix socket's file.
    /// - Throws: ``GatewayError`` with a sentence for the operator, where the address is in use for example.
    package static func bind(
        _ wanted: ListenAddress, socketMode: UInt32, sharesPort: Bool = false, inherited: CInt? = nil,
        on group: MultiThreadedEventLoopGroup, connect: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) async throws -> Listener {
        if let inherited { return try await take(inherited, on: group, connect: connect) }
        if let path = wanted.path {
            let bootstrap = commonBootstrap(group.next(), children: group, connect)
            let channel = try await bootstrap.listen(onUnixSocket: path, mode: socketMode).get()
            return Listener(channels: [channel], address: wanted)
        }
        let loops = Array(group.makeIterator())
        // Kernels spread connections over sockets that share a port, so another process on the port has to be detected
        // first.
        if !sharesPort { try await probe(wanted, on: loops) }
        var address = wanted
        var channels: [any Channel] = []
        for loop in loops {
            let channel = try await bind(address, named: wanted, portBootstrap(loop, shares: true, connect))
            if let port = channel.localAddress?.port { address.port = port }
            channels.append(channel)
        }
        return Listener(channels: channels, address: address)
    }

    private static func bind(
        _ address: ListenAddress, named wanted: ListenAddress, _ bootstrap: ServerBootstrap
    ) async throws -> any Channel {
        do {
            return try await bootstrap.bind(host: address.host, port: address.port).get()
        } catch {
            throw GatewayError(binding: "\(wanted)", error, choose: "choose another address with --listen")
        }
    }

    /// Takes over a listening socket. Its connections are spread over the loops.
    private static func take(
        _ descriptor: CInt, on group: MultiThreadedEventLoopGroup,
        connect: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) async throws -> Listener {
        let bootstrap = commonBootstrap(group.next(), children: group, connect)
        let channel = try await bootstrap.withBoundSocket(descriptor).get()
        guard let local = channel.localAddress, let address = ListenAddress(bound: local) else {
            try? await channel.close().get()
            throw GatewayError(.listenFailed, "the socket that was passed has no port and no absolute path")
        }
        if address.path != nil { return Listener(channels: [channel], address: address) }
        // Connections inherit these from the socket that accepts them.
        try await channel.setOption(.tcpOption(.tcp_nodelay), value: 1).get()
        try await channel.setOption(.socketOption(.so_keepalive), value: 1).get()
        try await KeepAlive.prepare(channel)
        return Listener(channels: [channel], address: address)
    }

    /// Begins to accept. To be called once everything behind the pipeline has been made.
    package func open() {
        for channel in channels {
            channel.setOption(.autoRead, value: true).whenComplete { _ in channel.read() }
        }
    }

    /// Stops accepting; open connections go on. Returns when no connection can be accepted any more.
    package func close() async {
        for channel in channels { try? await channel.close().get() }
    }

    private static func probe(_ wanted: ListenAddress, on loops: [any EventLoop]) async throws {
        guard let loop = loops.first else { throw GatewayError(.listenFailed, "no event loop to listen on") }
        do {
            let channel = try await portBootstrap(loop, shares: false) { $0.eventLoop.makeSucceededVoidFuture() }
                .bind(host: wanted.host, port: wanted.port).get()
            try await channel.close().get()
        } catch {
            throw GatewayError(binding: "\(wanted)", error, choose: "choose another address with --listen")
        }
    }

    /// The settings for every kind of socket.
    private static func commonBootstrap(
        _ loop: any EventLoop, children: any EventLoopGroup,
        _ connect: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> ServerBootstrap {
        ServerBootstrap(group: loop, childGroup: children)
            .serverChannelOption(.autoRead, value: false)
            .serverChannelOption(.maxMessagesPerRead, value: 16)
            .childChannelInitializer(connect)
    }

    private static func portBootstrap(
        _ loop: any EventLoop, shares: Bool, _ connect: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> ServerBootstrap {
        var bootstrap = commonBootstrap(loop, children: loop, connect)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Connections inherit these from the socket that accepts them, so they need not be set for each.
            .serverChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .serverChannelOption(.socketOption(.so_keepalive), value: 1)
        bootstrap = KeepAlive.prepare(bootstrap)
        if shares {
            bootstrap = bootstrap.serverChannelOption(
                ChannelOptions.Types.SocketOption(level: .socket, name: NIOBSDSocket.Option(rawValue: SO_REUSEPORT)),
                value: 1)
        }
        return bootstrap
    }
}

extension ListenAddress {
    /// The address that a socket is bound to; nil for a Unix socket without an absolute path.
    init?(bound: SocketAddress) {
        if case .unixDomainSocket = bound {
            self.init("unix:\(bound.pathname ?? "")")
        } else if let host = bound.ipAddress, let port = bound.port {
            self.init(host: host, port: port)
        } else {
            return nil
        }
    }
}
