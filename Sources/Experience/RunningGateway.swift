import AdminAPI
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

/// A gateway that accepts connections: its background tasks, and how it stops. Made by ``buildGateway(_:)`` and used by
/// one ``serve(until:)``.
final class RunningGateway: Sendable {
    /// The origin that was bound, or `unix:` and the path of the socket.
    let place: String
    let securityGuard: SecurityGuard
    let loops: LoopStateRegistry
    let builder: EdgeSnapshotBuilder
    /// Filled before the listener is opened, and anew with each reload.
    let pipeline: PipelineBox
    /// Nil where the gateway speaks plain HTTP, which a reload does not change.
    let tls: ServerTLS?
    private let group: MultiThreadedEventLoopGroup
    private let listener: Listener
    private let current: Mutex<EdgeServices>
    private let watch: LeaseWatch
    private let state: any StateSurface
    private let fetch: GuardedFetch
    private let documents: GuardedFetch
    private let events: EventService
    private let logger: Logger
    private let admin: AdminListener
    private let exporter: OTLPExporter?
    private let inheritedAdmin: CInt?
    private let recorder: MetricsRecorder
    private let gateway: Gateway
    private let boundAdmin = Mutex<ListenAddress?>(nil)
    /// Through which the configuration changes, until the loops are shut down.
    let changes = ChangeGate()

    init(
        place: String, group: MultiThreadedEventLoopGroup, listener: Listener, loops: LoopStateRegistry,
        services: EdgeServices, builder: EdgeSnapshotBuilder, pipeline: PipelineBox, watch: LeaseWatch,
        fetch: GuardedFetch,
        documents: GuardedFetch, tls: ServerTLS?, exporter: OTLPExporter?, events: EventService, gateway: Gateway
    ) {
        self.place = place
        self.group = group
        self.listener = listener
        self.loops = loops
        self.current = Mutex(services)
        self.builder = builder
        self.pipeline = pipeline
        self.securityGuard = builder.securityGuard
        self.watch = watch
        self.state = gateway.state
        self.fetch = fetch
        self.documents = documents
        self.tls = tls
        self.events = events
        self.exporter = exporter
        self.gateway = gateway
        self.logger = gateway.logger
        self.inheritedAdmin = gateway.inheritedSockets.admin
        self.recorder = MetricsRecorder(
            metrics: services.metrics, securityGuard: builder.securityGuard, state: gateway.state, loops: loops,
            grace: services.configuration.state.grace, version: gateway.version, logger: gateway.logger)
        self.admin = AdminListener(
            services: services, state: gateway.state, recorder: recorder, reload: gateway.reloadRequested)
    }

    /// What every connection shares, according to the configuration as it is now.
    var services: EdgeServices {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// The address of the admin listener; nil where there is none.
    var adminAddress: ListenAddress? { boundAdmin.withLock { $0 } }

    /// What the operator's API stands on.
    private func adminServices() -> AdminServices {
        let (first, admin) = (services, self.admin)
        let latest: @Sendable () -> EdgeServices = { [weak self] in self?.services ?? first }
        return AdminServices(
            version: gateway.version, nodeName: builder.runtime.nodeID, startedAt: gateway.clock(),
            clock: gateway.clock, securityGuard: securityGuard, signIn: builder.signIn,
            agents: { [builder] in builder.agents(for: latest().configuration) }, store: state,
            node: NodeObserver(
                loops: loops, services: latest, feed: state, storeKind: state.capabilities.name,
                isDraining: { [weak admin] in admin?.isDraining.load(ordering: .relaxed) ?? true }),
            controls: gateway.controls, audit: { [gateway] in if gateway.isAudited { gateway.audit($0, $1) } },
            explainsErrors: { latest().configuration.errors.explain })
    }

    /// Opens the admin listener, where the configuration names one. Done before the public one accepts, so that a port
    /// that is taken stops the start.
    ///
    /// - Throws: ``GatewayError`` where it can't be bound.
    func openAdmin() async throws {
        logger.info("listening", metadata: ["origin": "\(place)"])
        guard let address = services.configuration.server.admin else { return }
        let bound = try await admin.open(address, inherited: inheritedAdmin, group: group) { rights in
            AdminResponder(adminServices(), rights: rights)
        }
        boundAdmin.withLock { $0 = bound }
        logger.info("admin listening", metadata: ["address": "\(bound)"])
    }

    /// Serves until `stop` returns, then drains.
    ///
    /// Everything that the gateway has opened is closed when it returns, except the store.
    func serve(until stop: @Sendable () async -> Void) async throws {
        startTicking()
        try await withThrowingDiscardingTaskGroup { tasks in
            let (runtime, securityGuard, tls, logger) = (builder.runtime, self.securityGuard, self.tls, self.logger)
            tasks.addTask { await runtime.run() }
            tasks.addTask { [exporter] in await exporter?.run() }
            tasks.addTask {
                await securityGuard.run { error in
                    logger.warning(
                        "the key directory can't be used; the keys stay as they are", metadata: ["error": "\(error)"])
                }
            }
            let reporter = StoreReporter(
                state: state, securityGuard: securityGuard, grace: services.configuration.state.grace, logger: logger)
            tasks.addTask { await reporter.run() }
            let (events, issuer, fetch) = (self.events, builder.issuer, self.fetch)
            tasks.addTask {
                await events.run(issuer: issuer, signingKey: { securityGuard.keyRing.signingKey }, fetch: fetch)
            }
            tasks.addTask {
                // For a backend that pushes its values. One that is scraped is updated when it is read.
                while !Task.isCancelled {
                    await self.recorder.record()
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
        await changes.close()
        loops.onEach { $0.accessLog?.finish() }
        await loops.settled()
        await events.flush()
        watch.stop()
        await fetch.shutdown()
        await documents.shutdown()
        try? await group.shutdownGracefully()
    }

    /// Reads keys and certificate now, without waiting for the next check. Where one can't be used, that is logged and
    /// the old one stays. The certificate is read only where its file has changed.
    func reload() async {
        do {
            try await securityGuard.reload()
        } catch {
            logger.warning(
                "the key directory can't be used; the keys stay as they are", metadata: ["error": "\(error)"])
        }
        tls?.reloadIfChanged(logger: logger)
    }

    /// Starts the tick of each loop, twenty times a second: it gives away lines of the access log, turns the wheel and
    /// checks the store's health.
    private func startTicking() {
        let (state, securityGuard) = (self.state, self.securityGuard)
        let grace = services.configuration.state.grace
        for bound in loops.all {
            bound.eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(50), delay: .milliseconds(50)) { _ in
                let loop = bound.value
                loop.accessLog?.flush()
                loop.deadlines.turn()
                loop.leases.keysChanged(
                    generation: securityGuard.keyGeneration, retired: securityGuard.keyRing.retiredKeys)
                loop.leases.turn(now: loop.now())
                let health = StoreWatch.health(of: state, securityGuard, grace: grace)
                guard let gate = loop.snapshot?.gate else { return }
                // With each tick: an answer that was admitted before may take its lease now.
                if health == .lost { loop.leases.endAll(.storeLost) }
                gate.storeHealth = health
            }
        }
    }

    /// Stops accepting; open connections finish their requests within `server.drain`.
    ///
    /// Every loop knows of the stop before the listener is closed. So from the moment when clients can no longer
    /// connect, every answer ends its connection; one that is accepted in between is served one request.
    private func drain() async {
        admin.isDraining.store(true, ordering: .relaxed)
        let limit = services.configuration.server.drain
        let end = ContinuousClock.now + .milliseconds(limit)
        loops.onEach { $0.drain(within: limit) }
        await loops.settled()
        await listener.close()
        while ContinuousClock.now < end {
            if await openConnections() == 0 { break }
            // A task that is cancelled waits no longer.
            do { try await Task.sleep(for: .milliseconds(50)) } catch { break }
        }
        await admin.close()
    }

    private func openConnections() async -> Int {
        var sum = 0
        for bound in loops.all {
            sum += (try? await bound.eventLoop.submit { bound.value.openCount }.get()) ?? 0
        }
        return sum
    }
}
