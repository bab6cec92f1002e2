import AsyncHTTPClient
import Edge
import EdgeConfiguration
import EdgeCore
import Foundation
import Gate
import Leases
import Logging
import NIOCore
import NIOPosix
import Runtime
import SecurityGuard
import StateSurface
import Synchronization

/// A gateway that accepts connections: its background tasks, and how it stops.
final class RunningGateway: Sendable {
    /// The origin that was bound, or `unix:` and the path of the socket.
    let place: String
    private let group: MultiThreadedEventLoopGroup
    private let listener: Listener
    private let loops: LoopStates
    private let services: EdgeServices
    private let runtime: Runtime
    private let securityGuard: SecurityGuard
    private let watch: LeaseWatch
    private let state: any StateSurface
    private let http: HTTPClient
    private let tls: ServerTLS?
    private let logger: Logger
    private let admin: AdminListener

    init(
        place: String, group: MultiThreadedEventLoopGroup, listener: Listener, loops: LoopStates,
        services: EdgeServices, runtime: Runtime, securityGuard: SecurityGuard, watch: LeaseWatch,
        state: any StateSurface, http: HTTPClient, tls: ServerTLS?, logger: Logger
    ) {
        self.place = place
        self.group = group
        self.listener = listener
        self.loops = loops
        self.services = services
        self.runtime = runtime
        self.securityGuard = securityGuard
        self.watch = watch
        self.state = state
        self.http = http
        self.tls = tls
        self.logger = logger
        self.admin = AdminListener(services: services, state: state, loops: loops)
    }

    func openAdmin() async throws {
        logger.info("listening", metadata: ["origin": "\(place)"])
        guard let address = services.configuration.server.admin else { return }
        let bound = try await admin.open(address, group: group)
        logger.info("admin listening", metadata: ["address": "\(bound)"])
    }

    /// Serves until `stop` returns, then drains.
    func serve(until stop: @Sendable () async -> Void) async throws {
        startTicking()
        try await withThrowingDiscardingTaskGroup { tasks in
            let (runtime, securityGuard, tls, logger) = (self.runtime, self.securityGuard, self.tls, self.logger)
            tasks.addTask { await runtime.run() }
            tasks.addTask {
                await securityGuard.run { error in
                    logger.warning(
                        "the key directory can't be used; the keys stay as they are", metadata: ["error": "\(error)"])
                }
            }
            let reporter = StoreReporter(
                state: state, securityGuard: securityGuard, grace: services.configuration.state.grace, logger: logger)
            tasks.addTask { await reporter.run() }
            tasks.addTask {
                // For a backend that pushes its values. One that is scraped is updated when it is read.
                while !Task.isCancelled {
                    await self.admin.recordGauges()
                    try? await Task.sleep(for: .seconds(5))
                }
            }
            tasks.addTask {
                while !Task.isCancelled {
                    try? await Task.sleep(for: .seconds(2))
                    tls?.reloadIfChanged(logger: logger)
                }
            }
            await stop()
            await drain()
            tasks.cancelAll()
        }
        watch.stop()
        try? await http.shutdown()
        try? await group.shutdownGracefully()
    }

    /// Reads keys and certificate now, without waiting for the next check. Where one can't be used, that is logged and
    /// the old one stays.
    func reload() async {
        do {
            try await securityGuard.reload()
        } catch {
            logger.warning(
                "the key directory can't be used; the keys stay as they are", metadata: ["error": "\(error)"])
        }
        tls?.reloadIfChanged(logger: logger)
    }

    /// Starts the tick of each loop, twenty times a second: it turns the wheel and checks the store's health.
    private func startTicking() {
        let (state, securityGuard) = (self.state, self.securityGuard)
        let grace = services.configuration.state.grace
        for bound in loops.all {
            bound.eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(50), delay: .milliseconds(50)) { _ in
                let loop = bound.value
                loop.deadlines.turn()
                loop.leases.keysMoved(to: securityGuard.keyGeneration, fallen: securityGuard.keyRing.fallen)
                loop.leases.turn(now: loop.now())
                let health = StoreWatch.health(of: state, securityGuard, grace: grace)
                if health == .lost, loop.gate.storeHealth != .lost { loop.leases.endAll(.storeLost) }
                loop.gate.storeHealth = health
            }
        }
    }

    /// Stops accepting; open connections finish their requests within `server.drain`.
    private func drain() async {
        admin.isDraining.store(true, ordering: .relaxed)
        await listener.close()
        let limit = services.configuration.server.drain
        loops.onEach { loop in
            // The connections are ended over the first half of the time, so that not all clients reconnect at once.
            for parent in loop.streamParents.values { parent.drain() }
            let connections = Array(loop.connections.values)
            let step = Double(limit) / 2 / Double(max(1, connections.count))
            for (index, connection) in connections.enumerated() {
                let bound = NIOLoopBound(connection, eventLoop: loop.loop)
                let delay = connections.count < 32 ? 0 : Int64(Double(index) * step)
                loop.loop.scheduleTask(in: .milliseconds(delay)) { bound.value.drain() }
            }
        }
        let end = ContinuousClock.now + .milliseconds(limit)
        while ContinuousClock.now < end {
            if await openConnections() == 0 { break }
            try? await Task.sleep(for: .milliseconds(50))
        }
        await admin.close()
    }

    private func openConnections() async -> Int {
        var sum = 0
        for bound in loops.all {
            sum += (try? await bound.eventLoop.submit { bound.value.connections.count }.get()) ?? 0
        }
        return sum
    }
}
