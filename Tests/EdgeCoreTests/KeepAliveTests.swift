import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import EdgeCore

/// What the kernel is asked to do about peers that vanish, read back from the sockets themselves.
@Suite struct KeepAliveTests {
    private static let wanted: [(name: Int32, value: Int)] = [
        (TCP_KEEPIDLE, 30), (TCP_KEEPINTVL, 10), (TCP_USER_TIMEOUT, 60_000),
    ]

    private static func options(of channel: any Channel) async throws -> [Int] {
        var values: [Int] = []
        for (name, _) in wanted {
            let option = ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: name))
            values.append(try await channel.getOption(option).get())
        }
        return values
    }

    @Test(
        "A relayed connection is probed after half a minute, and none holds unacknowledged bytes for more than one",
        arguments: [true, false])
    func armed(isSocketKnown: Bool) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(listener.localAddress)
        let plain = try await ClientBootstrap(group: group).connect(to: address).get()
        let armed = try await ClientBootstrap(group: group).connect(to: address).get()
        try await armed.eventLoop.submit {
            if isSocketKnown, let socket = ChannelSocket(armed) { KeepAlive.arm(socket) } else { KeepAlive.arm(armed) }
        }.get()
        #expect(try await Self.options(of: armed) == Self.wanted.map(\.value))
        #expect(try await Self.options(of: plain) != Self.wanted.map(\.value))
        for channel in [armed, plain, listener] { try await channel.close().get() }
    }

    @Test(
        "Probes are turned on before there is a connection, so that every connection has them",
        arguments: [true, false])
    func turnedOn(isSocketKnown: Bool) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(listener.localAddress)
        let plain = try await ClientBootstrap(group: group).connect(to: address).get()
        let probed = try await ClientBootstrap(group: group).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let isDone: Void? = isSocketKnown ? ChannelSocket.borrow(from: channel) { KeepAlive.turnOn($0) } : nil
                if isDone == nil { KeepAlive.turnOn(channel) }
            }
        }.connect(to: address).get()
        let option = ChannelOptions.Types.SocketOption(level: .socket, name: .so_keepalive)
        #expect(try await probed.getOption(option).get() != 0)
        #expect(try await plain.getOption(option).get() == 0)
        for channel in [plain, probed, listener] { try await channel.close().get() }
    }

    @Test("A Unix socket has no use for it and is left alone")
    func unixSocket() async throws {
        let path = "/tmp/gatehouse-keepalive-\(UInt32.random(in: .min ... .max))"
        defer { unlink(path) }
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group).bind(unixDomainSocketPath: path).get()
        let client = try await ClientBootstrap(group: group).connect(unixDomainSocketPath: path).get()
        try await client.eventLoop.submit {
            KeepAlive.arm(client)
            if let socket = ChannelSocket(client) { KeepAlive.arm(socket) }
        }.get()
        #expect(client.isActive)
        for channel in [client, listener] { try await channel.close().get() }
    }
}
