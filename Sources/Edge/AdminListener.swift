import Answers
import EdgeConfiguration
import EdgeCore
import Exposition
import Gate
import HTTPWire
import Leases
import NIOCore
import NIOPosix
import StateSurface
import Synchronization

/// The operator's listener: `/healthz`, `/readyz`, `/metrics`. Never the public one.
package final class AdminListener: Sendable {
    /// Whether the gateway is stopping, so that `/readyz` fails.
    package let isDraining = Atomic<Bool>(false)
    private let services: EdgeServices
    private let state: any ChangeFeed
    private let loops: LoopStates
    private let channel = Mutex<(any Channel)?>(nil)

    package init(services: EdgeServices, state: any ChangeFeed, loops: LoopStates) {
        self.services = services
        self.state = state
        self.loops = loops
    }

    /// Binds the listener; returns the address that was bound.
    package func open(_ address: ListenAddress, group: MultiThreadedEventLoopGroup) async throws -> ListenAddress {
        do {
            let bootstrap = ServerBootstrap(group: group)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(AdminConnection(self))
                    }
                }
            if let path = address.path {
                let mode = services.configuration.server.socketMode
                let channel = try await bootstrap.listen(onUnixSocket: path, mode: mode).get()
                self.channel.withLock { $0 = channel }
                return address
            }
            let channel = try await bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: address.host, port: address.port).get()
            self.channel.withLock { $0 = channel }
            return ListenAddress(host: address.host, port: channel.localAddress?.port ?? address.port)
        } catch let error as GatewayError {
            throw error.about("server.admin")
        } catch {
            throw GatewayError(
                binding: "server.admin \(address)", error, choose: "choose another with --admin, or --admin off")
        }
    }

    /// Closes the listener.
    package func close() async {
        let channel = self.channel.withLock { $0 }
        try? await channel?.close().get()
    }

    fileprivate func answer(_ path: String) async -> (status: Int, type: String, body: String) {
        switch path {
        case "/healthz": return (200, "text/plain", "ok\n")
        case "/readyz": return await ready()
        case "/metrics": return await metrics()
        default: return (404, "text/plain", "not found\n")
        }
    }

    private func ready() async -> (status: Int, type: String, body: String) {
        if isDraining.load(ordering: .relaxed) { return (503, "text/plain", "draining\n") }
        let health = StoreWatch.health(of: state, services.securityGuard, grace: services.configuration.state.grace)
        return health == .current ? (200, "text/plain", "ready\n") : (503, "text/plain", "store unavailable\n")
    }

    private func metrics() async -> (status: Int, type: String, body: String) {
        guard let exposition = services.metrics.exposition else {
            return (404, "text/plain", "the metrics backend of this process is not read here\n")
        }
        await recordGauges()
        return (200, exposition.contentType, exposition.text())
    }

    /// Records the values that are looked up instead of counted: open connections, leases, the store's health.
    package func recordGauges() async {
        var leases = 0
        for bound in loops.all {
            leases += (try? await bound.eventLoop.submit { bound.value.leases.count }.get()) ?? 0
        }
        let health = StoreWatch.health(of: state, services.securityGuard, grace: services.configuration.state.grace)
        services.metrics.record(leases: leases, isStoreUp: health == .current)
    }
}

/// One connection of an operator: one request, one answer.
private final class AdminConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let listener: AdminListener
    private var scanner = HeadScanner(limits: WireLimits(maxHead: 8192))
    private var inbound = ByteBuffer()
    private var hasRequest = false

    init(_ listener: AdminListener) { self.listener = listener }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        guard !hasRequest else { return }
        inbound.writeBuffer(&bytes)
        switch scanner.feed(&inbound) {
        case .needMoreData: return
        case .failed(let error): send(context.channel, (error.status, "text/plain", "\(error.reason)\n"), isHead: false)
        case .head(let head):
            hasRequest = true
            let isHead = head.knownMethod == .head
            guard isHead || head.knownMethod == .get else {
                return send(context.channel, (405, "text/plain", "method not allowed\n"), isHead: false)
            }
            let path = head.string(head.path)
            let channel = context.channel
            let listener = self.listener
            context.eventLoop.makeFutureWithTask { await listener.answer(path) }.whenSuccess { answer in
                Self.write(channel, answer, isHead: isHead)
            }
        }
    }

    private func send(_ channel: any Channel, _ answer: (status: Int, type: String, body: String), isHead: Bool) {
        hasRequest = true
        Self.write(channel, answer, isHead: isHead)
    }

    private static func write(
        _ channel: any Channel, _ answer: (status: Int, type: String, body: String), isHead: Bool
    ) {
        var out = ByteBuffer()
        HeadWriter.statusLine(answer.status, to: &out)
        out.writeString("Content-Type: \(answer.type)\r\nContent-Length: \(answer.body.utf8.count)\r\n")
        out.writeStaticString("Cache-Control: no-store\r\nConnection: close\r\n\r\n")
        if !isHead { out.writeString(answer.body) }
        channel.writeAndFlush(out).whenComplete { _ in channel.close(promise: nil) }
    }
}
