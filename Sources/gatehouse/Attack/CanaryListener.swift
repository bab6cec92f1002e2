import NIOCore
import NIOPosix
import Synchronization

/// A listener whose address is only in hostile tokens. It counts connections: each one shows that the target followed a
/// URL in a token.
final class CanaryListener: Sendable {
    private let channel: any Channel
    private let count: Count

    /// The connections that were made to it.
    private final class Count: Sendable {
        let value = Atomic(0)
    }

    private init(_ channel: any Channel, _ count: Count) {
        self.channel = channel
        self.count = count
    }

    /// Listens on a free port of the loopback interface.
    static func open() async throws -> CanaryListener {
        let count = Count()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                count.value.add(1, ordering: .relaxed)
                return channel.close()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return CanaryListener(channel, count)
    }

    /// What hostile tokens name as `jku` and the like. Nothing is answered there.
    var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/jwks.json" }
    /// How many connections there were since the start; each is closed at once.
    var visits: Int { count.value.load(ordering: .relaxed) }

    /// Stops listening.
    func close() async {
        try? await channel.close()
    }
}
