import Answers
import Edge
import EdgeConfiguration
import EdgeCore
import Encodings
import Gate
import GatewayAPI
import Leases
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Passkeys
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
    let loops = Array(group.makeIterator())
    let tls = try configuration.server.tls.map { try ServerTLS($0, asking: CertificateHosts(configuration.routes)) }

    // 1. Listeners. The pipeline of a connection exists only when everything behind it does.
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
    let scheme = tls == nil ? "http" : "https"
    let issuer = configuration.issuer(at: listener.address)

    // 2. SecurityGuard.
    let events = EventService(
        receivers: EventReceivers(configuration.events), store: gateway.state, logger: gateway.logger,
        clock: gateway.clock)
    let fetch = try GuardedFetch()
    started.append { await fetch.shutdown() }
    let metrics = EdgeMetrics(gateway.metrics)
    let securityGuard = try await makeSecurityGuard(
        gateway, issuer: issuer, fetch: fetch, metrics: metrics, events: events)

    // 3. Traffic Cop and Runtime.
    let trafficCop = try await makeTrafficCop(gateway, configuration)
    let runtime = makeRuntime(gateway, configuration, trafficCop)

    // 4. The API.
    let loopStates = LoopStateRegistry()
    let (held, heldAccounts) = (HeldSessions(), HeldSessions())
    let watch = LeaseWatch(
        loops: loopStates, held: held, heldAccounts: heldAccounts, profiles: securityGuard.profiles,
        runtime: runtime, state: gateway.state, clock: gateway.clock,
        skew: configuration.tokens.clockSkew)
    let state = gateway.state
    let signIn = SignInService(
        securityGuard: securityGuard, runtime: runtime, trafficCop: trafficCop, store: gateway.state,
        countFailures: { [clock = gateway.clock] key, adding in
            try await state.count(key: key, adding: adding, window: TrafficCop.loginWindow, now: clock())
        })
    (gateway.state as? any TimedStore)?.report { operation, time in
        metrics.stored(operation, nanoseconds: Int64(time / .nanoseconds(1)))
    }
    let documents = try documentFetch(configuration)
    started.append { await documents.shutdown() }
    let builder = EdgeSnapshotBuilder(
        gateway: gateway, securityGuard: securityGuard, runtime: runtime, trafficCop: trafficCop, signIn: signIn,
        fetch: fetch, documents: documents, issuer: issuer, address: listener.address, loops: loopStates,
        loopCount: loops.count, metrics: metrics)

    // 5. The edge.
    let services = try builder.services(for: configuration)
    let exporter = makeExporter(gateway, configuration, metrics)
    let tracer: (any Tracer)? = gateway.tracer ?? exporter.map { OTLPTracer(exporter: $0, ratio: 1) }
    metrics.expect(upstreams: try configuration.upstreamPlaces())
    let upstreamTLS = try UpstreamTrust.contexts(for: configuration.routes)
    builder.upstreamHealth.adopt(try configuration.watchedUpstreams())
    let authority = LeaseVerifier(
        runtime: runtime, securityGuard: securityGuard, watch: watch, held: held, heldAccounts: heldAccounts,
        clock: gateway.clock)
    for loop in loops {
        try await loop.submit {
            let state = LoopState(
                loop: loop, leases: LeaseTable(now: gateway.clock(), authority: authority),
                flushes: FlushQueue(loop: loop), metrics: metrics, accessLog: gateway.accessLog, tracer: tracer,
                now: gateway.clock)
            state.change(to: try builder.snapshot(services, upstreamTLS, for: state))
            loopStates.add(NIOLoopBound(state, eventLoop: loop))
        }.get()
    }
    pipeline.value = EdgePipeline(services: services, loops: loopStates.byLoop, tls: tls)

    // 6. From here on the feed ends leases; then accepting begins.
    watch.start()
    started.append { watch.stop() }
    let place = listener.address.path == nil ? "\(scheme)://\(listener.address)" : "\(listener.address)"
    let running = RunningGateway(
        place: place, group: group, listener: listener, loops: loopStates, services: services, builder: builder,
        pipeline: pipeline, watch: watch, fetch: fetch, documents: documents, tls: tls, exporter: exporter,
        events: events, gateway: gateway)
    try await running.openAdmin()
    listener.open()
    return running
}

/// What sends spans to `tracing.otlp`; nil where there is no such key, or the adopter's own tracer takes them.
private func makeExporter(
    _ gateway: Gateway, _ configuration: GatewayConfiguration, _ metrics: EdgeMetrics
) -> OTLPExporter? {
    guard gateway.tracer == nil, let collector = configuration.tracing.otlp else { return nil }
    return OTLPExporter(collector, service: "gatehouse", version: gateway.version, logger: gateway.logger) { count in
        metrics.dropped(lines: count, of: "traces")
    }
}

private func makeTrafficCop(
    _ gateway: Gateway, _ configuration: GatewayConfiguration
) async throws -> TrafficCop {
    let counterSecret = try await gateway.state.sharedSecret(
        name: "login counters", candidate: TrafficCop.makeCounterSecret())
    return try TrafficCop(
        limits: RateLimits(configuration.limits), counterSecret: counterSecret, clock: gateway.clock)
}

private func makeRuntime(
    _ gateway: Gateway, _ configuration: GatewayConfiguration, _ trafficCop: TrafficCop
) -> Runtime {
    let sessions = configuration.sessions
    return Runtime(
        state: gateway.state, trafficCop: trafficCop,
        policy: SessionPolicy(
            anonymousIdle: sessions.anonymousIdle, anonymousLifetime: sessions.anonymousLifetime, idle: sessions.idle,
            lifetime: sessions.lifetime, perUser: sessions.perUser, clockSkew: configuration.tokens.clockSkew),
        realms: gateway.realms, clock: gateway.clock,
        agentLimits: AgentLimits(maxMessage: configuration.webSocket.maxMessage),
        audit: { event in gateway.record(event) },
        familyEnded: { gateway.record(AuditEvent(.familyEnded, reason: "home_expired", familyID: $0)) })
}

/// What fetches the metadata documents of agents, from servers that the system's roots or `clients.ca` vouch for.
private func documentFetch(_ configuration: GatewayConfiguration) throws(GatewayError) -> GuardedFetch {
    do {
        return try GuardedFetch(roots: configuration.clients.ca)
    } catch {
        throw GatewayError(.certificate, "clients.ca: expected a file with PEM certificates (\(error))", cause: error)
    }
}

private func makeSecurityGuard(
    _ gateway: Gateway, issuer: String, fetch: GuardedFetch, metrics: EdgeMetrics, events: EventService
) async throws -> SecurityGuard {
    let configuration = gateway.configuration
    let policy = try TokenPolicy(configuration, issuer: issuer, scrypt: gateway.passwordCost)
    let passphrase = try configuration.keys.readPassphrase()
    let keys = KeyDirectory(
        path: configuration.keys.directory, policy: policy, passphrase: passphrase, clock: gateway.clock)
    let isFirstRun = try keys.load() == nil
    let guarded = try await SecurityGuard(
        policy: policy, keyDirectory: keys, state: gateway.state,
        issuers: try configuration.trustedIssuers(fetch: fetch.forProviders),
        sharesStore: gateway.state.capabilities.isSharedBetweenMachines, clock: gateway.clock,
        audit: { event in
            metrics.count(event)
            gateway.record(event)
            events.report(event)
        })
    if isFirstRun {
        let made = passphrase == nil ? "a development key was generated, unencrypted" : "one was generated, encrypted"
        gateway.logger.notice(
            "no signing key was there: \(made)",
            metadata: ["directory": "\(configuration.keys.directory)"])
    }
    return guarded
}
