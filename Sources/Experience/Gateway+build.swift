import Edge
import EdgeConfiguration
import EdgeCore
import Gate
import Leases
import NIOCore
import NIOPosix
import NIOSSL
import Proxy
import Runtime
import SecurityGuard
import SignIn
import StateSurface
import Tracing
import TrafficCop

/// Builds the gateway from its parts, in this order:
///
/// 1. listeners: bound first, since the port may decide the issuer; nothing is accepted yet;
/// 2. SecurityGuard: keys, tokens, accounts;
/// 3. Traffic Cop and Runtime: limits, and sessions with their agents;
/// 4. the API behind Hummingbird's router;
/// 5. the edge: one set of caches, pools and leases per event loop;
/// 6. the change feed into the leases; accepting begins.
///
/// Where a step fails, what the steps before it have started is shut down, the last first; then the threads are
/// stopped, which closes the listeners.
///
/// - Returns: a gateway that accepts connections; its background tasks begin with ``RunningGateway/serve(until:)``.
/// - Throws: an error whose description is one sentence for the operator.
func buildGateway(_ gateway: Gateway) async throws -> RunningGateway {
    let configuration = gateway.configuration
    try configuration.check()
    try configuration.checkResources()
    try configuration.checkTools()
    let group = MultiThreadedEventLoopGroup(
        numberOfThreads: configuration.server.threads ?? System.coreCount)
    var started: [Shutdown] = []
    do {
        return try await assemble(gateway, configuration, group, &started)
    } catch {
        for shutdown in started.reversed() { await shutdown() }
        try? await group.shutdownGracefully()
        throw error
    }
}

/// Shuts down what a step of the start has started. Not needed once the start is complete: then
/// ``RunningGateway/serve(until:)`` does it.
private typealias Shutdown = @Sendable () async -> Void

private func assemble(
    _ gateway: Gateway, _ configuration: GatewayConfiguration, _ group: MultiThreadedEventLoopGroup,
    _ started: inout [Shutdown]
) async throws -> RunningGateway {
    let front = try await bindListener(gateway, configuration, group)
    let core = try await openCore(gateway, configuration, front, &started)
    let api = try makeAPI(gateway, configuration, front, core, &started)
    let edge = try await makeEdge(gateway, configuration, front, core, api)
    return try await accept(gateway, front, core, api, edge, &started)
}

/// What connections come in by.
private struct Front {
    let group: MultiThreadedEventLoopGroup
    let loops: [any EventLoop]
    /// Nil for plain HTTP.
    let tls: ServerTLS?
    /// Empty until ``makeEdge(_:_:_:_:_:)`` has filled it.
    let pipeline: PipelineBox
    /// Bound, but not accepting yet.
    let listener: Listener
    /// The `iss` of tokens.
    let issuer: String

    /// The origin that was bound, or `unix:` and the path of the socket.
    var place: String {
        listener.address.path == nil ? "\(tls == nil ? "http" : "https")://\(listener.address)" : "\(listener.address)"
    }
}

/// Step 1.
private func bindListener(
    _ gateway: Gateway, _ configuration: GatewayConfiguration, _ group: MultiThreadedEventLoopGroup
) async throws -> Front {
    let loops = Array(group.makeIterator())
    let tls = try configuration.server.tls.map { try ServerTLS($0, asking: CertificateHosts(configuration.routes)) }
    // The pipeline of a connection exists only when everything behind it does.
    let pipeline = PipelineBox()
    let server = configuration.server
    let listener = try await Listener.bind(
        server.listen, socketMode: server.socketMode, sharesPort: server.reusePort,
        inherited: gateway.inheritedSockets.public, on: group
    ) { channel in
        guard let ready = pipeline.value else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        return ready.connect(channel)
    }
    return Front(
        group: group, loops: loops, tls: tls, pipeline: pipeline, listener: listener,
        issuer: configuration.issuer(at: listener.address))
}

/// What judges callers and what runs for them. It knows of no connection.
private struct Core {
    let events: EventService
    /// Sends requests to identity providers and receivers of events.
    let fetch: GuardedFetch
    let metrics: EdgeMetrics
    let securityGuard: SecurityGuard
    let trafficCop: TrafficCop
    let runtime: Runtime
}

/// Steps 2 and 3.
private func openCore(
    _ gateway: Gateway, _ configuration: GatewayConfiguration, _ front: Front, _ started: inout [Shutdown]
) async throws -> Core {
    let events = EventService(
        receivers: EventReceivers(configuration.events), store: gateway.state, logger: gateway.logger,
        clock: gateway.clock)
    let fetch = try GuardedFetch()
    started.append { await fetch.shutdown() }
    let metrics = EdgeMetrics(gateway.metrics)
    let securityGuard = try await makeSecurityGuard(
        gateway, issuer: front.issuer, fetch: fetch, metrics: metrics, events: events)
    let trafficCop = try await makeTrafficCop(gateway, configuration)
    return Core(
        events: events, fetch: fetch, metrics: metrics, securityGuard: securityGuard, trafficCop: trafficCop,
        runtime: makeRuntime(gateway, configuration, trafficCop))
}

/// What the services of every snapshot are made with, and what the leases of all loops have in common.
private struct API {
    /// Empty until ``makeEdge(_:_:_:_:_:)`` has filled it.
    let loopStates: LoopStateRegistry
    let held: HeldSessions
    let heldAccounts: HeldSessions
    let watch: LeaseWatch
    /// Fetches the metadata documents of clients.
    let documents: GuardedFetch
    let builder: EdgeSnapshotBuilder
}

/// Step 4.
private func makeAPI(
    _ gateway: Gateway, _ configuration: GatewayConfiguration, _ front: Front, _ core: Core,
    _ started: inout [Shutdown]
) throws -> API {
    let loopStates = LoopStateRegistry()
    let (held, heldAccounts) = (HeldSessions(), HeldSessions())
    let watch = LeaseWatch(
        loops: loopStates, held: held, heldAccounts: heldAccounts, profiles: core.securityGuard.profiles,
        runtime: core.runtime, state: gateway.state, clock: gateway.clock,
        skew: configuration.tokens.clockSkew)
    let state = gateway.state
    let signIn = SignInService(
        securityGuard: core.securityGuard, runtime: core.runtime, trafficCop: core.trafficCop, store: state,
        countFailures: { [clock = gateway.clock] key, adding in
            try await state.count(key: key, adding: adding, window: TrafficCop.loginWindow, now: clock())
        })
    (state as? any TimedStore)?.report { [metrics = core.metrics] operation, time in
        metrics.stored(operation, nanoseconds: Int64(time / .nanoseconds(1)))
    }
    let documents = try documentFetch(configuration)
    started.append { await documents.shutdown() }
    let builder = EdgeSnapshotBuilder(
        gateway: gateway, securityGuard: core.securityGuard, runtime: core.runtime, trafficCop: core.trafficCop,
        signIn: signIn, fetch: core.fetch, documents: documents, issuer: front.issuer,
        address: front.listener.address, loops: loopStates, loopCount: front.loops.count, metrics: core.metrics)
    return API(
        loopStates: loopStates, held: held, heldAccounts: heldAccounts, watch: watch, documents: documents,
        builder: builder)
}

/// What every connection shares, and what takes the spans of its requests.
private struct EdgeParts {
    let services: EdgeServices
    let exporter: OTLPExporter?
}

/// Step 5. Fills the pipeline and the registry of the loops.
private func makeEdge(
    _ gateway: Gateway, _ configuration: GatewayConfiguration, _ front: Front, _ core: Core, _ api: API
) async throws -> EdgeParts {
    let (builder, metrics, loopStates) = (api.builder, core.metrics, api.loopStates)
    let services = try builder.services(for: configuration)
    let exporter = makeExporter(gateway, configuration, metrics)
    let tracer: (any Tracer)? = gateway.tracer ?? exporter.map { OTLPTracer(exporter: $0, ratio: 1) }
    metrics.expect(upstreams: try configuration.upstreamPlaces())
    let upstreamTLS = try UpstreamTrust.contexts(for: configuration.routes)
    builder.upstreamHealth.adopt(try configuration.watchedUpstreams())
    let authority = LeaseVerifier(
        runtime: core.runtime, securityGuard: core.securityGuard, watch: api.watch, held: api.held,
        heldAccounts: api.heldAccounts, clock: gateway.clock)
    for loop in front.loops {
        try await loop.submit {
            let state = LoopState(
                loop: loop, leases: LeaseTable(now: gateway.clock(), authority: authority),
                flushes: FlushQueue(loop: loop), metrics: metrics, accessLog: gateway.accessLog, tracer: tracer,
                now: gateway.clock)
            state.change(to: try builder.snapshot(services, upstreamTLS, for: state))
            loopStates.add(NIOLoopBound(state, eventLoop: loop))
        }.get()
    }
    front.pipeline.value = EdgePipeline(services: services, loops: loopStates.byLoop, tls: front.tls)
    return EdgeParts(services: services, exporter: exporter)
}

/// Step 6: from here on the feed ends leases; then accepting begins.
private func accept(
    _ gateway: Gateway, _ front: Front, _ core: Core, _ api: API, _ edge: EdgeParts, _ started: inout [Shutdown]
) async throws -> RunningGateway {
    let watch = api.watch
    watch.start()
    started.append { watch.stop() }
    let running = RunningGateway(
        place: front.place, group: front.group, listener: front.listener, loops: api.loopStates,
        services: edge.services, builder: api.builder, pipeline: front.pipeline, watch: watch, fetch: core.fetch,
        documents: api.documents, tls: front.tls, exporter: edge.exporter, events: core.events, gateway: gateway)
    try await running.openAdmin()
    front.listener.open()
    return running
}
