import EdgeConfiguration
import EdgeCore
import Foundation
import Logging
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS
import Sockets
import Synchronization

/// The public listener: one accepting socket per event loop on one port, or one Unix socket whose connections are spread
/// over the loops; bound before any request is served.
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
    /// - Parameter connect: makes the pipeline of a new connection; called on the connection's loop.
    package static func bind(
        _ wanted: ListenAddress, socketMode: UInt32, on group: MultiThreadedEventLoopGroup,
        connect: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) async throws -> Listener {
        if let path = wanted.path {
            let bootstrap = commonBootstrap(group.next(), children: group, connect)
            let channel = try await bootstrap.listen(onUnixSocket: path, mode: socketMode).get()
            return Listener(channels: [channel], address: wanted)
        }
        let loops = Array(group.makeIterator())
        // Kernels spread connections over sockets that share a port, so another process on the port has to be detected
        // first.
        try await probe(wanted, on: loops)
        var address = wanted
        var channels: [any Channel] = []
        for loop in loops {
            let channel = try await portBootstrap(loop, shares: true, connect)
                .bind(host: address.host, port: address.port).get()
            if let port = channel.localAddress?.port { address.port = port }
            channels.append(channel)
        }
        return Listener(channels: channels, address: address)
    }

    /// Begins to accept.
    package func open() {
        for channel in channels {
            channel.setOption(.autoRead, value: true).whenComplete { _ in channel.read() }
        }
    }

    /// Stops accepting; open connections go on.
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

/// The listener's TLS: certificate and key from their files, read again when these change.
package final class ServerTLS: Sendable {
    private struct Loaded: Sendable {
        var context: NIOSSLContext
        var stamp: [Date?]
    }

    private let files: GatewayConfiguration.TLS
    private let loaded: Mutex<Loaded>

    /// Reads certificate and key.
    package init(_ files: GatewayConfiguration.TLS) throws {
        self.files = files
        self.loaded = Mutex(Loaded(context: try Self.context(files), stamp: Self.stamp(files)))
    }

    /// The context for new connections.
    package var context: NIOSSLContext { loaded.withLock { $0.context } }

    /// Reads the files again if they have changed. New connections get the new certificate; if the new pair can't be
    /// used, the old one stays.
    package func reloadIfChanged(logger: Logger) {
        let stamp = Self.stamp(files)
        guard loaded.withLock({ $0.stamp != stamp }) else { return }
        do {
            let context = try Self.context(files)
            loaded.withLock { $0 = Loaded(context: context, stamp: stamp) }
            logger.info("certificate reloaded")
        } catch {
            loaded.withLock { $0.stamp = stamp }
            logger.warning("the changed certificate can't be used; the old one stays", metadata: ["error": "\(error)"])
        }
    }

    /// The cipher suites for TLS 1.2: only those with forward secrecy and authenticated encryption (RFC 9325 section
    /// 4.2). HTTP/2 allows no others (RFC 9113 appendix A), and TLS 1.3 has no others.
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    private static func context(_ files: GatewayConfiguration.TLS) throws -> NIOSSLContext {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(files.certificate).map {
                NIOSSLCertificateSource.certificate($0)
            }
            let key = try NIOSSLPrivateKey(file: files.key, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.cipherSuiteValues = cipherSuites
            configuration.applicationProtocols = ["h2", "http/1.1"]
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw GatewayError(
                .certificate,
                "server.tls: certificate \(files.certificate) and key \(files.key) can't be used (\(error)): give a PEM chain and its PEM key",
                cause: error)
        }
    }

    private static func stamp(_ files: GatewayConfiguration.TLS) -> [Date?] {
        [files.certificate, files.key].map {
            (try? FileManager.default.attributesOfItem(atPath: $0))?[.modificationDate] as? Date
        }
    }
}
