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
        #expect(isKnown, "the channel is asked each time")
        try await listener.close().get()
    }

    /// The number of a closed descriptor may be another connection's at once. The first code to run when a channel
    /// closes is what waits for its writes.
    @Test("A closing channel lends nothing to what runs first when it closes")
    func closing() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(listener.localAddress)
        let channel = try await ClientBootstrap(group: group).connect(to: address).get()
        let loop = channel.eventLoop
        let isLent = try await loop.submit {
            let socket = NIOLoopBound(ChannelSocket(channel), eventLoop: loop)
            let written = loop.makePromise(of: Void.self)
            channel.write(ByteBuffer(string: "never flushed"), promise: written)
            let seen = loop.makePromise(of: [Bool].self)
            written.futureResult.whenComplete { _ in
                seen.succeed([channel.isActive, socket.value?.withHandle { _ in true } ?? false])
            }
            channel.close(promise: nil)
            return seen.futureResult
        }.get().get()
        #expect(isLent == [false, false])
        try await listener.close().get()
    }

    @Test("A channel that is no socket has none")
    func embedded() {
        let hasSocket = ChannelSocket(EmbeddedChannel()) != nil
        #expect(!hasSocket)
    }
}
