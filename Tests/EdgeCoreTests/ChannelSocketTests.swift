import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import EdgeCore

/// The socket under a channel is lent for as long as it is the channel's.
@Suite struct ChannelSocketTests {
    @Test("A closed channel lends nothing")
    func closed() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(listener.localAddress)
        let channel = try await ClientBootstrap(group: group).connect(to: address).get()
        let loop = channel.eventLoop
        let socket = try await loop.submit { NIOLoopBound(ChannelSocket(channel), eventLoop: loop) }.get()
        let isLent = try await loop.submit { socket.value?.withHandle { $0 >= 0 } ?? false }.get()
        #expect(isLent)
        try await channel.close().get()
        let isLentStill = try await loop.submit { socket.value?.withHandle { $0 >= 0 } ?? false }.get()
        #expect(!isLentStill)
        let isKnown = try await loop.submit { socket.value != nil }.get()
        #expect(isKnown, "it is the channel that refuses")
        try await listener.close().get()
    }

    @Test("A channel that is no socket has none")
    func embedded() {
        let hasSocket = ChannelSocket(EmbeddedChannel()) != nil
        #expect(!hasSocket)
    }
}
