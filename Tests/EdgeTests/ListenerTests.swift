import EdgeConfiguration
import Glibc
import NIOCore
import NIOPosix
import Testing

@testable import Edge

/// The public listener's sockets.
@Suite struct ListenerTests {
    private struct NoSocket: Error {}

    /// A TCP socket that listens on a free port of 127.0.0.1, as a service manager would pass one. Its taker closes it.
    private static func listeningSocket() throws -> CInt {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw NoSocket() }
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
        let isListening = address.withSockAddr { pointer, size in
            bind(descriptor, pointer, socklen_t(size)) == 0 && listen(descriptor, 16) == 0
        }
        guard isListening else {
            close(descriptor)
            throw NoSocket()
        }
        return descriptor
    }

    @Test("The clients of an inherited socket are probed as often as those of one that the gateway has bound")
    func keepAlive() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let sockets: [CInt?] = [nil, try Self.listeningSocket()]
        var found: [[Int]] = []
        for inherited in sockets {
            let accepted = group.next().makePromise(of: (any Channel).self)
            let listener = try await Listener.bind(
                ListenAddress(host: "127.0.0.1", port: 0), socketMode: 0o600, sharesPort: true, inherited: inherited,
                on: group
            ) { channel in
                accepted.succeed(channel)
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            listener.open()
            let client = try await ClientBootstrap(group: group)
                .connect(host: "127.0.0.1", port: listener.address.port).get()
            let channel = try await accepted.futureResult.get()
            var values = [try await channel.getOption(.socketOption(.so_keepalive)).get() == 0 ? 0 : 1]
            for name in [TCP_KEEPIDLE, TCP_KEEPINTVL] {
                let option = ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: name))
                values.append(try await channel.getOption(option).get())
            }
            found.append(values)
            try await client.close().get()
            await listener.close()
        }
        #expect(found == [[1, 30, 10], [1, 30, 10]])
    }
}
