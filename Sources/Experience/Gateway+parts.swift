import Edge
import EdgeConfiguration
import Logging
import Runtime
import SecurityGuard
import StateSurface
import TrafficCop

// The parts that `buildGateway` puts together, each made of what the configuration says of it.

/// What sends spans to `tracing.otlp`; nil where there is no such key, or the adopter's own tracer takes them.
func makeExporter(
    _ gateway: Gateway, _ configuration: GatewayConfiguration, _ metrics: EdgeMetrics
) -> OTLPExporter? {
    guard gateway.tracer == nil, let collector = configuration.tracing.otlp else { return nil }
    return OTLPExporter(collector, service: "gatehouse", version: gateway.version, logger: gateway.logger) { count in
        metrics.dropped(lines: count, of: "traces")
    }
}

func makeTrafficCop(
    _ gateway: Gateway, _ configuration: GatewayConfiguration
) async throws -> TrafficCop {
    let counterSecret = try await gateway.state.sharedSecret(
        name: "login counters", candidate: TrafficCop.makeCounterSecret())
    return try TrafficCop(
        limits: RateLimits(configuration.limits), counterSecret: counterSecret, clock: gateway.clock)
}

func makeRuntime(
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
func documentFetch(_ configuration: GatewayConfiguration) throws(GatewayError) -> GuardedFetch {
    do {
        return try GuardedFetch(roots: configuration.clients.ca)
    } catch {
        throw GatewayError(.certificate, "clients.ca: expected a file with PEM certificates (\(error))", cause: error)
    }
}

func makeSecurityGuard(
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
