import HostileTokens
import NIOCore
import NIOPosix

/// Sends the bytes of one request on a connection of its own and reads the answer, whatever it looks like.
struct RawSender: Sendable {
    let host: String
    let port: Int
    /// Refuses to send anywhere but to this machine, also if a name resolves to somewhere else.
    let onlyLoopback: Bool
    var timeout: TimeAmount = .seconds(10)

    func send(_ request: RawRequest) async throws -> RawResponse {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let answer = loop.makePromise(of: RawResponse.self)
        let timeout = timeout
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: loop)
                .connectTimeout(.seconds(5))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(AnswerCollector(answer, timeout: timeout))
                    }
                }
                .connect(host: host, port: port).get()
        } catch {
            answer.fail(SendFailure(.unreachable, ""))
            throw SendFailure(.unreachable, "nobody answers at \(host):\(port): is the target running?")
        }
        if onlyLoopback, !Loopback.contains(channel.remoteAddress) {
            channel.close(promise: nil)
            answer.fail(SendFailure(.unreachable, ""))
            throw SendFailure(.unreachable, "\(host) is not this machine")
        }
        // A refusal may come before the last byte has been taken, so that writing fails and the answer still counts.
        channel.writeAndFlush(ByteBuffer(bytes: request.bytes), promise: nil)
        return try await answer.futureResult.get()
    }
}

/// Which addresses are this machine.
enum Loopback {
    /// For hosts as URLs write them.
    static func contains(host: String) -> Bool {
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        if name == "localhost" { return true }
        return NetworkText.isIPv4(name) ? name.hasPrefix("127.") : NetworkText.isIPv6(name) && contains(address: name)
    }

    static func contains(_ address: SocketAddress?) -> Bool {
        address?.ipAddress.map { contains(address: $0) } ?? false
    }

    private static func contains(address: String) -> Bool {
        address.hasPrefix("127.") || address == "::1" || address.hasPrefix("::ffff:127.")
    }
}

/// Collects an answer until it is whole, the connection ends, or time is up.
private final class AnswerCollector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private static let limit = 1024 * 1024
    private let answer: EventLoopPromise<RawResponse>
    private let timeout: TimeAmount
    private var bytes: [UInt8] = []
    private var deadline: Scheduled<Void>?

    init(_ answer: EventLoopPromise<RawResponse>, timeout: TimeAmount) {
        self.answer = answer
        self.timeout = timeout
    }

    func channelActive(context: ChannelHandlerContext) {
        let answer = answer
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: timeout) {
            answer.fail(SendFailure(.timedOut, "no answer in time"))
            channel.close(promise: nil)
        }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes.append(contentsOf: unwrapInboundIn(data).readableBytesView)
        guard let response = RawResponse(parsing: bytes) else {
            if bytes.count > Self.limit { finish(context) }
            return
        }
        if response.isComplete || bytes.count > Self.limit { finish(context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finish(context)
    }

    private func finish(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        if let response = RawResponse(parsing: bytes) {
            answer.succeed(response)
        } else if bytes.isEmpty {
            answer.fail(SendFailure(.closed, "the connection ended without an answer"))
        } else {
            answer.fail(SendFailure(.unreadable, "what came back is no HTTP answer"))
        }
        context.close(promise: nil)
    }
}
